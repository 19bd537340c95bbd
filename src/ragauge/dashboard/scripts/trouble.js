// What a live filter says when it fails: rows that are old must not look as if they were found.
(() => {
  "use strict";

  const SILENCE = "The dashboard does not answer: these rows are old. Reload the page.";

  function refused(xhr) {
    const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
    const said = page.querySelector(".problem p:not(.eyebrow)")?.textContent.trim();
    return `These rows are old. The dashboard refuses (${xhr.status}): ${said || xhr.statusText}`;
  }

  function noticeOf(rows) {
    const before = rows.previousElementSibling;
    return before?.matches(".trouble") ? before : null;
  }

  function tell(rows, words) {
    let notice = noticeOf(rows);
    if (!notice) {
      notice = document.createElement("p");
      notice.className = "trouble";
      notice.setAttribute("role", "alert");
      rows.before(notice);
    }
    notice.textContent = words;
    rows.classList.add("old");
  }

  // The rows have been replaced by those of the answer, which have the same id.
  function forget(event) {
    const { successful, target } = event.detail;
    const rows = document.getElementById(target?.id);
    if (!successful || !rows) return;
    noticeOf(rows)?.remove();
    rows.classList.remove("old");
  }

  document.addEventListener("htmx:responseError", (event) => tell(event.detail.target, refused(event.detail.xhr)));
  for (const silence of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(silence, (event) => tell(event.detail.target, SILENCE));
  }
  document.addEventListener("htmx:afterRequest", forget);
})();
