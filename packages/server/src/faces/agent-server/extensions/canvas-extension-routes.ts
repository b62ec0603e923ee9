import { posix } from "node:path";
import type { canvasExtensionRoutes } from "@convoke/protocol";
import { readCanvasManifest } from "../../../extensions/sources/canvas-manifest.ts";
import type { RouteReply, Handlers, RequestOf } from "../../../http/mount.ts";
import { collectBytes } from "../../../lib/collect-bytes.ts";
import { Fault } from "../../../lib/fault.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { InstalledItems, showInstalled } from "./installed-items.ts";
import { canvasHead, requireCanvasExtension } from "./read-heads.ts";

const maxBundleBytes = 8 * 1024 * 1024;
const maxIconBytes = 256 * 1024;

/**
 * For programs and pictures of others. A page takes them with a key and runs them itself; opened as a document of this server they can
 * do nothing: no script, no other origin's page around or inside, and no guess of another type.
 */
const foreignHeaders = {
  "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "cache-control": "no-cache",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
} as const;

type Asked = RequestOf<(typeof canvasExtensionRoutes)["getCanvasExtension"]>;

/** Pages that users add to Agent Canvas. Nothing of them runs here: no backend of an extension is ever started. */
export function canvasExtensionHandlers(deps: FaceDeps) {
  const { sources } = deps;
  const items = new InstalledItems({
    ...deps,
    kind: "installedCanvasExtensions",
    read: canvasHead,
    show: async ({ userId }, installed) => {
      const opened = await sources.openInstalled(userId, installed.item);
      const read = opened === null ? null : await readCanvasManifest(opened.files, opened.directory);
      const manifest = read?.ok === true ? read.manifest : null;
      return { ...showInstalled(installed, opened?.directory ?? ""), manifest };
    },
  });

  /** A file that the manifest names. */
  async function send(
    request: Asked,
    choose: "entrypoint" | "icon",
    [maxBytes, contentType]: readonly [number, string],
  ): Promise<RouteReply> {
    const { name, item } = await items.find(request.caller, request.params.extension_name);
    // What is off is not given to a page that would run it.
    if (choose === "entrypoint" && !item.enabled)
      throw new Fault("missing", "not_enabled", `The extension ${name} is switched off.`);
    const opened = await sources.openInstalled(request.caller.userId, item);
    const missing = new Fault("missing", "file_not_found", `The extension ${name} has no such file.`);
    if (opened === null) throw missing;
    const manifest = await requireCanvasExtension(opened, ["path", "extension_name"]);
    const path = manifest[choose];
    if (!path) throw missing;
    const bytes = await opened.files
      .readFile(posix.join(opened.directory, path), { start: 0, end: maxBytes })
      .then(
        async ({ content }) => await collectBytes(content, maxBytes),
        // Missing or not readable: the same for its reader.
        () => null,
      );
    if (bytes === null) throw missing;
    return { bytes, contentType, headers: foreignHeaders };
  }

  return {
    installCanvasExtension: (request) => items.install(request),

    listCanvasExtensions: (request) => items.list(request, "canvas_extensions"),

    getCanvasExtension: (request) => items.get(request, request.params.extension_name),

    toggleCanvasExtension: (request) => items.toggle(request, request.params.extension_name),

    uninstallCanvasExtension: (request) => items.remove(request, request.params.extension_name),

    getCanvasExtensionBundle: (request) =>
      send(request, "entrypoint", [maxBundleBytes, "text/javascript; charset=utf-8"]),

    getCanvasExtensionIcon: (request) => send(request, "icon", [maxIconBytes, "image/svg+xml"]),
  } satisfies Handlers<typeof canvasExtensionRoutes>;
}
