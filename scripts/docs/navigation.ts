/** A list of the documentation's front page. */
export type Section = { readonly title: string; readonly pages: readonly Link[] };

/** A target is relative to `docs`, such as `guides/cli.md`. */
export type Link = { readonly title: string; readonly target: string };

/**
 * The lists of `docs/README.md`: below each heading, the links that begin its list items. The site's navigation is made of them, so a page is
 * put in its place there and nowhere else.
 */
export function readNavigation(frontPage: string): readonly Section[] {
  const [, ...parts] = frontPage.split(/^## /m);
  return parts
    .map((part) => ({
      title: part.slice(0, part.indexOf("\n")).trim(),
      pages: [...part.matchAll(/^- \[([^\]]+)\]\(([^)#]+\.md)[^)]*\)/gm)].map(
        ([, title = "", target = ""]) => ({
          title,
          target,
        }),
      ),
    }))
    .filter(({ pages }) => pages.length > 0);
}
