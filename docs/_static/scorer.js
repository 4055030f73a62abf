// Scores of search results: guides first, then other pages, then entries of the library. Titles with several words of the
// query come first, because Sphinx scores a page by its best word only.
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const query = new URLSearchParams(window.location.search).get("q") ?? "";
    score += query.toLowerCase().split(/\W+/).filter((word) => word && title.toLowerCase().includes(word)).length;
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
