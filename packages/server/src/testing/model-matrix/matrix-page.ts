const begin = "<!-- matrix: written by packages/server/scripts/write-model-matrix.ts -->";
const end = "<!-- end of matrix -->";

/** The page with a new table between its marks. Throws when the marks are missing. */
export function withMatrix(page: string, table: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error("The page has no marks for the matrix.");
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(to)}`;
}
