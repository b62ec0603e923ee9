import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everySecond } from "./every-case.ts";
import { desktop, devices, noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, takePictures, terminal, violationsOf } from "./web-page.ts";

type Stats = {
  readonly usage_to_metrics: Readonly<
    Record<string, { accumulated_token_usage: { per_turn_token: number; context_window: number } }>
  >;
};

const shown = (count: number): string =>
  count < 1_000 ? String(count) : `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`;

describe.skipIf(noBrowser !== null)("the exact log", () => {
  let web: WebBrowser;
  let id = "";

  beforeAll(async () => {
    web = await WebBrowser.open(
      about("begin", { tool_calls: [terminal("echo one", "Say one")] }, finish("It is said.")),
    );
    id = await web.converse("begin");
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  const searched = (page: Page, name: string): string | null => new URL(page.url()).searchParams.get(name);

  test("J19: the context meter says what the server says, and opens what filled it", async () => {
    const page = await web.logInAt(`/c/${id}`);
    await expectStatus(page, "done");
    const { items } = (await web.call("GET", `/api/conversations/${id}/events/search?limit=100`)) as {
      items: { id: string; kind: string }[];
    };
    const last = items.findLast(({ kind }) => kind === "ActionEvent")!;
    const context = await web.call("GET", `/api/conversations/${id}/events/${last.id}/context`);
    const { stats } = await web.call("GET", `/api/conversations/${id}`);
    const [metrics] = Object.values((stats as Stats).usage_to_metrics);
    const usage = metrics!.accumulated_token_usage;
    const meter = page.getByRole("button", { name: /^Context/ });
    expect(await meter.getAttribute("title")).toBe(
      `${shown(usage.per_turn_token)} of ${shown(usage.context_window)} tokens of context`,
    );
    expect(usage.context_window).toBe(context["context_window"]);
    await meter.click();
    const panel = page.getByRole("region", { name: "Model input" });
    await panel.getByText("matches the record of the request").waitFor();
    expect(searched(page, "of")).toBe(last.id);
    const share = (Number(context["tokens"]) / usage.context_window) * 100;
    await panel
      .getByText(
        `${shown(Number(context["tokens"]))} of ${shown(usage.context_window)} (${share.toFixed(0)}%)`,
        { exact: true },
      )
      .waitFor();
    const shares = context["shares"] as { tokens: number; share: number }[];
    for (const { tokens, share: part } of shares)
      await panel
        .getByText(`${shown(tokens)} (${(part * 100).toFixed(0)}%)`)
        .first()
        .waitFor();
    await panel.getByRole("button", { name: "The largest events" }).click();
    const largest = panel.getByRole("list", { name: "The largest events" }).getByRole("listitem");
    const messages = context["messages"] as { tokens: number; event_ids: string[] }[];
    const expected = messages
      .filter(({ event_ids: ids, tokens }) => ids.length === 1 && tokens > 0)
      .map(({ tokens }) => tokens)
      .toSorted((left, right) => right - left)
      .map((tokens) => `${shown(tokens)} tokens`);
    expect(await largest.locator("span:last-child").allTextContents()).toEqual(expected);
    expect(await violationsOf(page)).toEqual([]);
    await page.setViewportSize(phone.viewport);
    expect(await sidewaysOf(page)).toBe(0);
    await page.context().close();
  });

  test("S12, J21: what the model was shown, and how the conversation stood at each event", async () => {
    const page = await web.logInAt(`/c/${id}`);
    await expectStatus(page, "done");
    const { items } = (await web.call("GET", `/api/conversations/${id}/events/search?limit=100`)) as {
      items: { id: string; kind: string }[];
    };
    const action = items.findIndex(({ kind }) => kind === "ActionEvent");

    await page.getByRole("button", { name: /^Say one/ }).click();
    const card = page.getByRole("article").filter({ hasText: "Say one" });
    await card.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Show model input" }).click();
    const panel = page.getByRole("region", { name: "Model input" });
    await panel.getByText("matches the record of the request").waitFor();
    await expect.poll(() => searched(page, "of")).toBe(items[action]!.id);
    await expect.poll(() => panel.getByRole("listitem").getByText("begin", { exact: true }).count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    await takePictures(page, "shown");
    await panel.getByRole("button", { name: "Show in conversation" }).first().click();
    await page.locator('[aria-current="location"]').getByText("begin").waitFor();
    await expect.poll(() => searched(page, "panel")).toBe("context");

    await page.goto(`${web.url}/c/${id}?at=`);
    const slider = page.getByRole("slider");
    await expect.poll(() => slider.inputValue()).toBe(String(items.length));
    await expect.poll(() => searched(page, "at")).toBe(items.at(-1)!.id);
    await slider.press("Home");
    await expect.poll(() => searched(page, "at")).toBe(items[0]!.id);
    for (let presses = 0; presses < action; presses += 1) await slider.press("ArrowRight");
    await expect.poll(() => searched(page, "at")).toBe(items[action]!.id);
    await expectStatus(page, "working");
    await page.getByRole("button", { name: /^Say one/ }).waitFor();
    await expect.poll(() => page.getByText("It is said.").count()).toBe(0);
    await expect.poll(() => page.getByRole("textbox", { name: "Message" }).count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await takePictures(page, "past");
    // Played from here to the end, where it holds; and back to here.
    await page.getByRole("button", { name: "Speed 1×" }).click();
    await page.getByRole("button", { name: "Speed 2×" }).click();
    await slider.press("Space");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await expect.poll(() => slider.inputValue()).toBe(String(items.length));
    await page.getByText("It is said.").first().waitFor();
    await page.getByRole("button", { name: "Play" }).waitFor();
    for (let presses = items.length - 1; presses > action; presses -= 1) await slider.press("ArrowLeft");
    await expect.poll(() => searched(page, "at")).toBe(items[action]!.id);
    // The one mark is the message that it began with.
    const asked = items.findIndex(({ kind }) => kind === "MessageEvent");
    await slider.press("Shift+ArrowLeft");
    await expect.poll(() => searched(page, "at")).toBe(items[asked]!.id);
    expect(await slider.getAttribute("aria-valuetext")).toContain(", a message,");
    await slider.press("Shift+ArrowLeft");
    await slider.fill(String(action + 1));
    await expect.poll(() => searched(page, "at")).toBe(items[action]!.id);
    // The strip of cost and context says with the hand what the meters say of the moment, and leads there.
    const strip = page.getByRole("img", { name: /^Cost \(max\. .*\) and context \(max\./ });
    for (const size of [desktop, phone]) {
      await page.setViewportSize(size.viewport);
      expect(await sidewaysOf(page)).toBe(0);
      const { x, y, width, height } = (await strip.boundingBox())!;
      await page.mouse.click(x + width - 1, y + height / 2);
      await expect.poll(() => slider.inputValue()).toBe(String(items.length));
      await expect
        .poll(() => slider.getAttribute("aria-valuetext"))
        .toMatch(/cost (\$\d+\.\d\d|\$0|< \$0\.01), context \d+%/);
      expect(await violationsOf(page)).toEqual([]);
      await takePictures(page, size === phone ? "strip-phone" : "strip");
    }
    await slider.fill(String(action + 1));
    await expect.poll(() => searched(page, "at")).toBe(items[action]!.id);
    await page.reload();
    await expect.poll(() => slider.inputValue()).toBe(String(action + 1));
    await slider.press("Escape");
    await page.getByText("It is said.").waitFor();
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe("");
    await page.goBack();
    await expect.poll(() => slider.inputValue()).toBe(String(action + 1));
    await page.context().close();
  });

  /** The text of an event as it lies on the disk. */
  const storedText = (eventId: string): string => {
    using database = new DatabaseSync(path.join(web.place.folder, "data/journal.db"), { readOnly: true });
    const texts = ["events", "recent"].flatMap((table) =>
      database.prepare(`SELECT json FROM ${table}`).all(),
    );
    return texts.map(({ json }) => String(json)).find((json) => json.includes(`"id":"${eventId}"`))!;
  };

  test.each(everySecond(devices, 1))(
    "J20, S19: the log itself, each event as it is stored, %s",
    async (_, options) => {
      const page = await web.logInAt(`/c/${id}`, options);
      await expectStatus(page, "done");
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: "All events" }).click();
      const panel = page.getByRole("region", { name: "All events" });
      await panel
        .getByRole("button", { name: /^MessageEvent/ })
        .first()
        .waitFor();
      await panel.getByRole("button", { name: "Verify log" }).click();
      await panel.getByText("All 2 model requests match the log.").waitFor();
      await panel.getByRole("combobox", { name: "Kind" }).selectOption("ActionEvent");
      await expect.poll(() => panel.getByRole("button", { name: /^MessageEvent/ }).count()).toBe(0);
      expect(await violationsOf(page)).toEqual([]);
      expect(await sidewaysOf(page)).toBe(0);
      const listed = panel.getByRole("button", { name: /^[A-Z]\w+Event/ });
      const source = panel.getByRole("combobox", { name: "Source" });
      await source.selectOption("user");
      await panel.getByText("No events.").waitFor();
      await source.selectOption("agent");
      await panel.getByRole("combobox", { name: "Kind" }).selectOption("");
      const text = panel.getByRole("searchbox", { name: "Message text" });
      await source.selectOption("");
      await text.fill("BEGIN");
      await expect
        .poll(() => listed.allTextContents())
        .toEqual([expect.stringMatching(/^MessageEvent.*user/)]);
      await text.fill("");
      await panel.getByRole("combobox", { name: "Kind" }).selectOption("ActionEvent");
      await panel.getByRole("button", { name: /^ActionEvent terminal/ }).click();
      const stored = panel.locator("pre");
      await stored.getByText("Say one").waitFor();
      const eventId = searched(page, "of")!;
      await panel.getByRole("button", { name: "Raw JSON" }).click();
      await expect.poll(() => stored.textContent()).toBe(storedText(eventId));
      expect(await violationsOf(page)).toEqual([]);
      expect(await sidewaysOf(page)).toBe(0);
      await page.reload();
      await stored.getByText("Say one").waitFor();
      await panel.getByRole("button", { name: "Show in conversation" }).click();
      await page.waitForURL((url) => url.searchParams.get("event") === eventId);
      await page.getByRole("article").filter({ hasText: "Say one" }).first().waitFor();
      await page.context().close();
    },
  );
});
