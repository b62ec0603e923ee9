import path from "node:path";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/**
 * Of marked the page has the lexer alone: what is drawn is drawn by itself. The rest stays in the file only because its last lines make
 * an instance of everything and hang it on a function, so those lines are left out.
 */
function onlyLexer(): Plugin {
  return {
    name: "only-lexer",
    transform: {
      filter: { id: /\/marked\.esm\.js$/ },
      handler(code) {
        const instance = [...code.matchAll(/var \w+=new \w+;function /g)].at(-1);
        const lexer = /(\w+) as Lexer\b/.exec(code)?.[1];
        if (instance === undefined || lexer === undefined) throw new Error("marked is not built as it was");
        return { code: `${code.slice(0, instance.index)}export{${lexer} as Lexer};`, map: null };
      },
    },
  };
}

/**
 * The page's links to what its entry imports. Vite's own way, `modulePreload`, adds a kilobyte to the first script: it does the same for
 * each late import.
 */
function preloadImports(): Plugin {
  return {
    name: "preload-imports",
    transformIndexHtml: {
      order: "post",
      handler: (_, { chunk }) =>
        (chunk?.imports ?? []).map((name) => ({
          tag: "link",
          attrs: { rel: "modulepreload", crossorigin: true, href: `./${name}` },
          injectTo: "head" as const,
        })),
    },
  };
}

/**
 * Addresses inside the page are relative: the server names the folder that they start from with `<base href>`, so that one build
 * works at any path. Nothing is written into the page itself, as its policy allows neither inline scripts nor foreign addresses.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [react(), tailwindcss(), onlyLexer(), preloadImports()],
  resolve: {
    alias: [
      // The router brings a stand-in for a hook that React has had since 18.
      { find: "use-sync-external-store/shim/index.js", replacement: "react" },
      {
        find: /^\.\.\/createLucideIcon\.mjs$/,
        replacement: path.join(import.meta.dirname, "src/ui/create-icon.tsx"),
      },
    ],
  },
  worker: { format: "es" },
  build: {
    target: "es2024",
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    emptyOutDir: true,
    rolldownOptions: {
      output: {
        // What everything needs is one file: small ones pack worse, and each is a request.
        codeSplitting: {
          groups: [
            {
              name: "base",
              test: /node_modules\/(react|react-dom|scheduler|wouter|use-sync-external-store)\//,
            },
            {
              // Small, there from the start, and used by what comes later too: else each would be a file.
              name: "shared",
              test: /\/src\/(lib\/(beside|store|lazy-part|shown-times)|view\/(unknown-record|shown-numbers|edits|fold-task-list|row-of-event)|services\/services\.|colours\/colour-context|overview\/summary|ui\/(button|create-icon|state-mark)|text\/(visible-text|without-colours|safe-address|code-block|markdown)|lib\/conversation-address|conversation\/pane\.|api-error|diff\/use-diff|cards\/changed)|node_modules\/marked\/|\/words\/words\.ts|lucide-react\/dist\/esm\/(?!icons)|lucide-react\/dist\/esm\/icons\/(chevron-(down|right)|search|panel-left|circle|list-checks|loader-circle|triangle-alert|circle-check|pause|diamond|circle-check-big)\./,
            },
            // What is there from the start stays out of the parts below.
            { name: "page", tags: ["$initial"], includeDependenciesRecursively: false },
            {
              // What the parts behind the first picture have in common with others, and would each be a file of its own.
              name: "parts",
              test: /lucide-react\/dist\/esm\/icons\/|\/src\/(ui\/(dialog|field|menu|copy-button)|lib\/(title-id|link-to|copy-text|near-screen)|settings\/notification-preferences|overview\/conversation-list|login\/(login-form|exchange)|cards\/task-list|composer\/(composer|completion|suggestion-list|use-completion)|overview\/list-sections|conversation\/(meters|conversation-title)|colours\/(paint|token-types)|describe-rule)\b/,
              includeDependenciesRecursively: false,
            },
          ],
        },
      },
    },
  },
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries(
      ["/api", "/server_info", "/sockets"].map((route) => [
        route,
        { target: "http://127.0.0.1:8000", ws: route === "/sockets" },
      ]),
    ),
  },
});
