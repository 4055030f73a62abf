from fairfold.splitting.random import RandomSplit
