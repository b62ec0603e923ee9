// Runs before the first paint: applies the chosen theme, so that the page does not flash.
try {
  const look = JSON.parse(localStorage.getItem("convoke.look") ?? "{}");
  if (look.theme === "light" || look.theme === "dark") document.documentElement.dataset.theme = look.theme;
  if (typeof look.language === "string") document.documentElement.lang = look.language;
  else language();
} catch {
  // Storage may be disabled; the system theme then applies.
  language();
}

// The first supported language of the browser; English, the page's own, if there is none.
function language() {
  const known = navigator.languages
    .map((name) => name.slice(0, 2))
    .find((name) => name === "en" || name === "de");
  if (known) document.documentElement.lang = known;
}
