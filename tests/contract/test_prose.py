"""Texts are plain English: few phrases that technical English rarely needs, and short sentences in documents."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

PHRASES = (Path(__file__).parent / "phrases.txt").read_text(encoding="utf-8").splitlines()
PATTERNS = {phrase: re.compile(rf"(?<![\w-]){re.escape(phrase)}(?![\w-])") for phrase in PHRASES}
PER_1000_WORDS = 3.0
LONGEST = 45  # words of a sentence


def documents(root):
    listed = subprocess.run(["git", "ls-files", "*.md", "*.rst"], cwd=root, capture_output=True, text=True, check=True)
    return [root / name for name in listed.stdout.splitlines()]


def prose(text):
    """Yield the paragraphs and list items of a document, without code, tables and headings."""
    text = re.sub(r"^(```|:::).*?^\1\s*$|<!--.*?-->", "\n\n", text, flags=re.MULTILINE | re.DOTALL)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=[|#<])", text):
        if not block.lstrip().startswith(("|", "#", "<")):
            yield " ".join(block.split())


def sentences(text):
    for block in prose(text):
        yield from re.split(r"(?<=[.!?:;])\s+", block)


def phrases_in(text):
    flat = text.lower()
    seen = {phrase: pattern for phrase, pattern in PATTERNS.items() if phrase in flat}  # faster than each pattern
    return {phrase: n for phrase, pattern in seen.items() if (n := len(pattern.findall(flat)))}


def assert_plain(text):
    found = phrases_in(text)
    words = len(re.findall(r"[A-Za-z']+", text))
    assert words > 1000
    assert 1000 * sum(found.values()) / words <= PER_1000_WORDS, found


def test_documents_use_few_odd_phrases(root):
    assert_plain("\n".join(block for path in documents(root) for block in prose(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("folder", ["workflow", "tests", "benchmarks"])
def test_docstrings_use_few_odd_phrases(root, folder):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (root / folder).rglob("*.py")]
    docstrings = [ast.get_docstring(node) for tree in trees for node in ast.walk(tree) if isinstance(node, kinds)]
    assert_plain("\n".join(filter(None, docstrings)))


def test_messages_use_few_odd_phrases(root):
    """Texts of several words in the code are messages, log lines, captions, headings and help."""
    texts = []
    for path in (root / "workflow").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        constants = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings]
        texts += [node.value for node in constants if isinstance(node.value, str) and len(node.value.split()) > 2]
    assert_plain("\n".join(texts))


def test_sentences_of_documents_are_short(root):
    long = [
        f"{path.relative_to(root)}: {sentence}"
        for path in documents(root)
        for sentence in sentences(path.read_text(encoding="utf-8"))
        if len(sentence.split()) > LONGEST
    ]
    assert not long, "\n".join(long)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Take it home. It is told anew.", {"told": 1, "anew": 1}),
        ("| said | so |\n\n```sh\nsays\n```\n\nThe function returns a fold.", {}),
        ("- As many folds\n- as there are.", {"as many": 1}),
    ],
)
def test_phrases_are_counted_in_prose_only(text, expected):
    assert phrases_in("\n".join(prose(text))) == expected
