declare module "@joplin/turndown-plugin-gfm" {
  import type TurndownService from "turndown";

  /** A module of CommonJS: bundled, it has no other name than this one. */
  const plugins: {
    readonly tables: TurndownService.Plugin;
    readonly strikethrough: TurndownService.Plugin;
  };
  export default plugins;
}
