import type { BrowserContext, Frame, Page } from "playwright-core";
import { ToolInputError } from "../../tool.ts";

type Item = { readonly name: string; readonly value: string };
type Origin = {
  readonly origin: string;
  readonly localStorage?: readonly Item[];
  readonly sessionStorage?: readonly Item[];
};

/** Cookies of the context, and the storage of open pages. The format is that of the reference. */
export async function readStorage(context: BrowserContext, pages: readonly Page[]): Promise<object> {
  const origins = new Map<string, Origin>();
  const { cookies, origins: known } = await context.storageState();
  for (const { origin, localStorage } of known) origins.set(origin, { origin, localStorage });
  for (const frame of pages.flatMap((page) => page.frames())) {
    const found = await readFrame(frame);
    if (found === null) continue;
    const before = origins.get(found.origin);
    origins.set(found.origin, { ...before, ...found });
  }
  return { cookies, origins: [...origins.values()] };
}

/** Restores cookies and stored items: same names are replaced, everything else stays. */
export async function writeStorage(
  context: BrowserContext,
  page: Page,
  state: Readonly<Record<string, unknown>>,
): Promise<{ readonly cookies: number; readonly items: number }> {
  const cookies = listOf(state, "cookies").map(readCookie);
  const origins = listOf(state, "origins").map(readOrigin);
  try {
    if (cookies.length > 0) await context.addCookies(cookies);
  } catch (error) {
    throw new ToolInputError(
      `Invalid parameter storage_state: its cookies were refused (${firstLine(error)}).`,
    );
  }
  let items = 0;
  for (const { origin, localStorage = [], sessionStorage = [] } of origins) {
    items += localStorage.length + sessionStorage.length;
    if (localStorage.length > 0) await storeAt(context, origin, localStorage);
    if (sessionStorage.length > 0) await storeInTab(page, origin, sessionStorage);
  }
  return { cookies: cookies.length, items };
}

/** `localStorage` belongs to an origin, so any page of it works: here an empty one that never reaches the network. */
async function storeAt(context: BrowserContext, origin: string, items: readonly Item[]): Promise<void> {
  const page = await context.newPage();
  try {
    await page.route("**/*", (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
    await page.goto(origin);
    await page.evaluate((stored) => {
      for (const { name, value } of stored) localStorage.setItem(name, value);
    }, items);
  } finally {
    await page.close();
  }
}

/** `sessionStorage` belongs to a tab and an origin: set now if the tab shows the origin, else when it gets there. */
async function storeInTab(page: Page, origin: string, items: readonly Item[]): Promise<void> {
  const store = ({ at, stored, mark }: { at: string; stored: readonly Item[]; mark: string }): void => {
    if (location.origin !== at || sessionStorage.getItem(mark) !== null) return;
    for (const { name, value } of stored) sessionStorage.setItem(name, value);
  };
  const given = { at: origin, stored: items, mark: items[0]!.name };
  const frames = page.frames().filter((frame) => originOf(frame.url()) === origin);
  for (const frame of frames) {
    await frame.evaluate((stored) => {
      for (const { name, value } of stored) sessionStorage.setItem(name, value);
    }, items);
  }
  if (frames.length === 0) await page.addInitScript(store, given);
}

async function readFrame(frame: Frame): Promise<Origin | null> {
  try {
    return await frame.evaluate(() => {
      const itemsOf = (storage: Storage): { name: string; value: string }[] =>
        Object.keys(storage).map((name) => ({ name, value: storage.getItem(name) ?? "" }));
      const local = itemsOf(localStorage);
      const session = itemsOf(sessionStorage);
      if (local.length + session.length === 0) return null;
      return {
        origin: location.origin,
        ...(local.length > 0 ? { localStorage: local } : {}),
        ...(session.length > 0 ? { sessionStorage: session } : {}),
      };
    });
  } catch {
    // Documents with an opaque origin may not store anything.
    return null;
  }
}

function readCookie(value: unknown) {
  const cookie = asObject(value, "cookies");
  const { name, value: content, domain, path, url, expires, httpOnly, secure, sameSite } = cookie;
  if (typeof name !== "string" || typeof content !== "string")
    throw new ToolInputError("Invalid parameter storage_state: each of cookies needs a name and a value.");
  if (typeof url !== "string" && typeof domain !== "string")
    throw new ToolInputError(`Invalid parameter storage_state: the cookie ${name} needs a domain or a url.`);
  const place =
    typeof domain === "string"
      ? { domain, path: typeof path === "string" ? path : "/" }
      : { url: String(url) };
  const site = (["Strict", "Lax", "None"] as const).find((one) => one === sameSite);
  return {
    name,
    value: content,
    ...place,
    ...(typeof expires === "number" && expires > 0 ? { expires } : {}),
    ...(typeof httpOnly === "boolean" ? { httpOnly } : {}),
    ...(typeof secure === "boolean" ? { secure } : {}),
    ...(site === undefined ? {} : { sameSite: site }),
  };
}

function readOrigin(value: unknown): Origin {
  const { origin, ...stored } = asObject(value, "origins");
  if (typeof origin !== "string" || originOf(origin) === null)
    throw new ToolInputError(
      "Invalid parameter storage_state: each of origins needs an origin such as https://example.com.",
    );
  return {
    origin: originOf(origin)!,
    localStorage: listOf(stored, "localStorage").flatMap(readItem),
    sessionStorage: listOf(stored, "sessionStorage").flatMap(readItem),
  };
}

/** Items may use `key` for their name; an item without a name is skipped. */
function readItem(value: unknown): Item[] {
  const { name, key, value: content } = asObject(value, "origins");
  const found = typeof name === "string" ? name : key;
  return typeof found === "string"
    ? [{ name: found, value: typeof content === "string" ? content : JSON.stringify(content ?? "") }]
    : [];
}

function listOf(value: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const list = value[name] ?? [];
  if (Array.isArray(list)) return list as readonly unknown[];
  throw new ToolInputError(`Invalid parameter storage_state: ${name} must be a list.`);
}

function asObject(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new ToolInputError(`Invalid parameter storage_state: ${where} must hold objects.`);
}

function originOf(address: string): string | null {
  try {
    const { origin } = new URL(address);
    return origin === "null" ? null : origin;
  } catch {
    return null; // Not an address.
  }
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split("\n")[0]!;
}
