// Runs before the first paint: the look that was chosen, so that nothing flashes.
try {
  const look = JSON.parse(localStorage.getItem("convoke.look") ?? "{}");
  if (look.theme === "light" || look.theme === "dark") document.documentElement.dataset.theme = look.theme;
  if (typeof look.language === "string") document.documentElement.lang = look.language;
  else language();
} catch {
  // Storage may be closed to pages; the system's look then counts.
  language();
}

// The first of the browser's languages that the page speaks; English, in which it was written, where there is none.
function language() {
  const known = navigator.languages
    .map((name) => name.slice(0, 2))
    .find((name) => name === "en" || name === "de");
  if (known) document.documentElement.lang = known;
}
