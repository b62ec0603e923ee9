// Runs before the first paint: the look that was chosen, so that nothing flashes.
try {
  const look = JSON.parse(localStorage.getItem("convoke.look") ?? "{}");
  if (look.theme === "light" || look.theme === "dark") document.documentElement.dataset.theme = look.theme;
  if (typeof look.language === "string") document.documentElement.lang = look.language;
} catch {
  // Storage may be closed to pages; the system's look then counts.
}
