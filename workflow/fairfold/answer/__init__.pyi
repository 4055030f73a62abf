from .answer import Answer as Answer
