import type { CDPSession, Page } from "playwright-core";
import type { OpenBrowser } from "./open-browser.ts";
import { saveFile } from "./save-download.ts";

const maxBytes = 50 * 1024 * 1024;
const partBytes = 1024 * 1024;
const longestMs = 30_000;

/** Browser tools cannot read a displayed PDF, so it is saved to the workspace for other tools. */
export async function keepPdf({ context, note, workspaceDir }: OpenBrowser, page: Page): Promise<void> {
  // A navigating page is not a PDF.
  const type = await page.evaluate(() => document.contentType).catch(() => "");
  if (type !== "application/pdf") return;
  const session = await context.newCDPSession(page);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("its server was too slow")), longestMs);
  });
  try {
    const bytes = await Promise.race([fetchAgain(session, page.url()), late]);
    const name = decodeName(new URL(page.url()).pathname.split("/").at(-1) ?? "") || "document.pdf";
    const path = await saveFile(bytes, name, workspaceDir);
    note(`The page is a PDF. It was saved to ${path}: read it with other tools, such as pdftotext.`);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    note(`The page is a PDF, which could not be saved: ${reason}.`);
  } finally {
    clearTimeout(timer);
    // The tab is gone; otherwise it stops its remaining loading.
    await session.detach().catch(() => {});
  }
}

/**
 * Downloads the document again through the browser, so that a redirect of this request cannot reach closed addresses or forbidden
 * domains either.
 */
async function fetchAgain(session: CDPSession, url: string): Promise<Buffer> {
  const { frameTree } = await session.send("Page.getFrameTree");
  const { resource } = await session.send("Network.loadNetworkResource", {
    frameId: frameTree.frame.id,
    url,
    options: { disableCache: false, includeCredentials: true },
  });
  if (!resource.success || resource.stream === undefined)
    throw new Error(`it was not sent again (${resource.netErrorName ?? resource.httpStatusCode})`);
  const header = (wanted: string): unknown =>
    Object.entries(resource.headers ?? {}).find(([name]) => name.toLowerCase() === wanted)?.[1];
  const type = header("content-type");
  if (!String(type).toLowerCase().startsWith("application/pdf"))
    throw new Error(`its server sent something else the second time (${String(type)})`);
  // Then its body need not be read.
  if (Number(header("content-length")) > maxBytes) throw tooLarge();
  const parts: Buffer[] = [];
  for (let length = 0; ;) {
    const part = await session.send("IO.read", { handle: resource.stream, size: partBytes });
    const bytes = Buffer.from(part.data, part.base64Encoded === true ? "base64" : "utf8");
    length += bytes.length;
    if (length > maxBytes) throw tooLarge();
    parts.push(bytes);
    if (part.eof) return Buffer.concat(parts);
  }
}

function tooLarge(): Error {
  return new Error(`it is larger than ${maxBytes / 1024 / 1024} MiB`);
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // It contains a plain percent sign.
  }
}
