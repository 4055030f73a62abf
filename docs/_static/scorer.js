// Scores of search results: guides first, then other pages, then entries of the library.
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    if (docname.startsWith("guide/") || docname === "cite") return score + 20;
    if (docname.startsWith("reference/api/")) return score - 10;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 0, 1: -5, 2: -10 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
