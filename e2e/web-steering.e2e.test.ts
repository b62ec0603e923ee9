import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everySecond } from "./every-case.ts";
import { devices, isPhone, noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, send, sidewaysOf, terminal, violationsOf } from "./web-page.ts";

/** One file, because one server and one browser, which take seconds to start, serve all of its tests. */
const script = [
  { match: { last_tool_output_contains: "rain" }, text: "It rains." },
  ...about("first", { tool_calls: [terminal("echo one", "say one")] }, finish("The first is done.")),
  ...about("second", { text: "The second is done." }),
  ...about("fourth", { tool_calls: [terminal("sleep 90", "wait a while")] }),
  ...about("Also", { text: "All are read." }),
  ...about("fifth", { tool_calls: [terminal("sleep 90", "wait a while")] }),
  ...about("Instead", { text: "The fifth is done." }),
  ...about("Later", { text: "The later one is done." }),
  ...about("sixth", {
    tool_calls: [{ id: "kiel", name: "weather", arguments: {} }],
  }),
  ...about("third", { text: "The third took its time.", delay_ms: 2_000 }),
];

describe.skipIf(noBrowser !== null)("steering in the page", () => {
  let web: WebBrowser;
  beforeAll(async () => {
    web = await WebBrowser.open(script);
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  test("J14: a copy made from the bar becomes the shown conversation", async () => {
    const id = await web.converse("first");
    const page = await web.logInAt(`/c/${id}`);
    await expectStatus(page, "done");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Fork conversation" }).click();
    await page.waitForURL((url) => url.pathname.startsWith("/c/") && !url.pathname.endsWith(id));
    await page.getByRole("feed").getByText("The first is done.").waitFor();
    await page.context().close();
  });

  test("J14: an edited message continues from the event directly before it, including the result of the last call", async () => {
    const id = await web.converse("first");
    const page = await web.logInAt(`/c/${id}`);
    await expectStatus(page, "done");
    const field = page.getByRole("textbox", { name: "Message" });
    await send(page, "Now the second");
    await page.getByText("The second is done.").waitFor();
    await expectStatus(page, "done");
    const message = page.getByRole("article").filter({ hasText: "Now the second" });
    await message.hover();
    await message.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Edit and branch" }).click();
    await expect.poll(() => field.inputValue()).toBe("Now the second");
    const { leaf_event_id: leaf } = await web.call("GET", `/api/conversations/${id}`);
    expect(await web.call("GET", `/api/conversations/${id}/events/${String(leaf)}`)).toMatchObject({
      kind: "ObservationEvent",
      tool_name: "finish",
    });
    await page.context().close();
  });

  test("J6: a message sent while the agent works is queued, can be edited or withdrawn, and is read once, also across a restart", async () => {
    const id = await web.converse("fourth");
    const page = await web.logInAt(`/c/${id}`);
    await page.getByRole("button", { name: "wait a while" }).waitFor();
    const queue = page.getByRole("list", { name: "Queued messages" });
    const waiting = (text: string) => queue.getByRole("listitem").filter({ hasText: text });
    for (const text of ["Also one", "Also two", "Also three"]) {
      await send(page, text);
      await waiting(text).getByText("queued").waitFor();
    }
    await waiting("Also two").getByRole("button", { name: "Withdraw" }).click();
    await expect.poll(() => waiting("Also two").count()).toBe(0);
    await waiting("Also three").getByRole("button", { name: "Edit" }).click();
    const field = page.getByRole("textbox", { name: "Message" });
    await expect.poll(() => field.inputValue()).toBe("Also three");
    await expect.poll(() => waiting("Also three").count()).toBe(0);
    await send(page, "Also the third");
    await waiting("Also the third").getByText("queued").waitFor();
    await web.killAndRestart(async () => {
      await page.getByText(/Disconnected since/).waitFor();
    });
    await page.getByRole("feed").getByText("All are read.").waitFor();
    await expect.poll(() => queue.count()).toBe(0);
    const notices = page
      .getByRole("feed")
      .getByRole("article")
      .filter({ hasText: /Also/, hasNotText: "withdrawn before the agent read it" })
      .filter({ hasNotText: "All are read." });
    await expect.poll(() => notices.count()).toBe(2);
    expect(await notices.allInnerTexts()).toEqual([
      expect.stringContaining("Also one"),
      expect.stringContaining("Also the third"),
    ]);
    await page.context().close();
  });

  test("a message says what happens while the agent works: the page offers it, and shows, edits and withdraws what waits for the end of the run", async () => {
    const id = await web.converse("fifth");
    const page = await web.logInAt(`/c/${id}`);
    await page.getByRole("button", { name: "wait a while" }).waitFor();
    const choice = page.getByRole("combobox", { name: "While the agent works" });
    await choice.selectOption("After the run");
    const queue = page.getByRole("list", { name: "Queued messages" });
    const waiting = (text: string) => queue.getByRole("listitem").filter({ hasText: text });
    for (const text of ["Later one", "Later two", "Later three"]) {
      await send(page, text);
      await waiting(text).getByText("after the run").waitFor();
    }
    await waiting("Later two").getByRole("button", { name: "Withdraw" }).click();
    await expect.poll(() => waiting("Later two").count()).toBe(0);
    await waiting("Later three").getByRole("button", { name: "Edit" }).click();
    const field = page.getByRole("textbox", { name: "Message" });
    await expect.poll(() => field.inputValue()).toBe("Later three");
    await field.fill("");
    expect(await violationsOf(page)).toEqual([]);
    await choice.selectOption("Interrupt the agent");
    await send(page, "Instead of that");
    const feed = page.getByRole("feed");
    await feed.getByText("The fifth is done.").waitFor();
    await feed.getByText("The later one is done.").waitFor();
    await expectStatus(page, "done");
    await expect.poll(() => queue.count()).toBe(0);
    await expect.poll(() => choice.count()).toBe(0);
    await page.context().close();
  });

  test("client tools: the page says which call waits for a client, until its result is there", async () => {
    const tool = { name: "weather", description: "Reports the weather.", waits_for_result: true };
    const id = await web.converse("sixth", { client_tools: [tool] });
    const page = await web.logInAt(`/c/${id}`);
    const calls = page.getByRole("list", { name: "Calls that wait for a client" });
    await calls.getByText(/^weather waits until/).waitFor();
    await web.call("POST", `/api/conversations/${id}/tool_results`, {
      results: [{ tool_call_id: "kiel", content: "rain" }],
    });
    await expect.poll(() => calls.count()).toBe(0);
    await page.context().close();
  });

  test.skipIf(isPhone)(
    "U16, U18, U19: conversations are shown side by side, each with its draft, its panel and its messages",
    async () => {
      const [one, other] = [await web.converse("first"), await web.converse("second")];
      const page = await web.logInAt(`/c/${one}`);
      await page.getByRole("feed").getByText("The first is done.").waitFor();
      const entry = page.getByRole("navigation").getByRole("listitem").filter({ hasText: other });
      await entry.getByRole("button", { name: /^Open side by side/ }).click();
      const [left, right] = [page.locator("[data-pane]").nth(0), page.locator("[data-pane]").nth(1)];
      await right.getByText("The second is done.").waitFor();
      const fields = page.getByRole("textbox", { name: "Message" });
      await fields.nth(0).fill("A draft of the first");
      // The shortcuts are loaded a moment after the page.
      const isInRight = (): Promise<boolean> =>
        fields.nth(1).evaluate((element) => element === document.activeElement);
      await expect
        .poll(async () => {
          if (!(await isInRight())) await page.keyboard.press("F6");
          return await isInRight();
        })
        .toBe(true);
      await page.keyboard.type("Once more the second");
      await page.keyboard.press("Enter");
      await right.getByRole("feed").getByText("Once more the second").waitFor();
      await expect.poll(() => fields.nth(0).inputValue()).toBe("A draft of the first");
      await right.getByRole("button", { name: "Files" }).click();
      await right.getByRole("region", { name: "Files Test second" }).waitFor();
      await left.getByRole("button", { name: "Files" }).click();
      const files = left.getByRole("region", { name: "Files Test first" });
      await files.waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await files.getByRole("button", { name: "Close", exact: true }).click();
      await page.reload();
      await right.getByRole("region", { name: "Files Test second" }).waitFor();
      await left.getByRole("button", { name: "Close this pane" }).click();
      await page.waitForURL((url) => url.pathname === `/c/${other}` && url.search === "?panel=files");
      await page.context().close();
    },
  );

  test.skipIf(isPhone)(
    "a conversation that is named beside itself stands there once, with nothing to close",
    async () => {
      const id = await web.converse("first");
      const page = await web.logInAt(`/c/${id}?beside=${id}&beside=${id}%3Fpanel%3Dfiles`);
      await page.getByRole("feed").getByText("The first is done.").waitFor();
      await page.getByRole("button", { name: "Files" }).click();
      await page.waitForURL((url) => url.search === "?panel=files");
      await page.getByRole("region", { name: "Files Test first" }).waitFor();
      await page.waitForLoadState("networkidle");
      expect(await page.locator("[data-pane]").count()).toBe(1);
      expect(await page.getByRole("button", { name: "Close this pane" }).count()).toBe(0);
      await page.context().close();
    },
  );

  test("U19: of keys pressed before the shortcuts were loaded only the newest counts", async () => {
    const page = await web.logIn();
    const held = Promise.withResolvers<void>();
    await page.route(/\/app-frame-[^/]*\.js/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(`${web.url}/inbox`);
    await page.getByText("Nothing needs your attention.").waitFor();
    for (const key of ["n", "?", "g", "s"]) await page.locator("body").press(key);
    expect(new URL(page.url()).pathname).toBe("/inbox");
    held.resolve();
    await page.waitForURL(`${web.url}/search`);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.context().close();
  });

  test.skipIf(isPhone)(
    "U19: the palette opens everything by name, and opens a conversation beside another one",
    async () => {
      const one = await web.converse("first", { title: "Palette one" });
      const other = await web.converse("second", { title: "Palette two" });
      const page = await web.logIn();
      await page
        .getByRole("navigation")
        .getByRole("link", { name: /Palette two/ })
        .waitFor();
      const field = page.getByRole("combobox", { name: "Go to" });
      const goTo = async (query: string, key: string): Promise<void> => {
        await page.keyboard.press("Control+k");
        await field.waitFor();
        await page.keyboard.type(query);
        await page.getByRole("dialog").getByRole("option", { selected: true }).waitFor();
        await page.keyboard.press(key);
      };
      await goTo("palette one", "Enter");
      await page.waitForURL(`${web.url}/c/${one}`);
      await page.getByRole("feed").getByText("The first is done.").waitFor();
      await goTo("palette two", "Shift+Enter");
      await page.waitForURL(`${web.url}/c/${one}?beside=${other}`);
      await page.keyboard.press("Control+k");
      await field.waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.setViewportSize(phone.viewport);
      expect(await sidewaysOf(page)).toBe(0);
      await page.keyboard.type("settings appearance");
      await page
        .getByRole("dialog")
        .getByRole("option", { name: /Appearance/ })
        .click();
      await page.waitForURL(`${web.url}/settings/look`);
      await page.context().close();
    },
  );

  test.each(everySecond(devices, 0))(
    "J5, U19: the keys of an approval work on its buttons too, %s",
    async (_, options) => {
      const id = await web.converse("first", { confirmation_policy: { kind: "AlwaysConfirm" } });
      const page = await web.logInAt(`/c/${id}`, options);
      const card = page.getByRole("group", { name: "Approval: terminal" });
      await card
        .getByText(/^(?:Behind a wall \(bubblewrap\)|On the server's machine, without a wall), in \//)
        .waitFor();
      const reject = card.getByRole("button", { name: "Reject", exact: true });
      const reason = page.getByPlaceholder(/sent to the agent/);
      await reject.press("Enter");
      await reason.waitFor();
      await page.keyboard.type("ra");
      const back = card.getByRole("button", { name: "Back" });
      await back.press("r");
      expect(await reason.inputValue()).toBe("ra");
      await back.press("Space");
      await reject.focus();
      await expect
        .poll(async () => {
          await page.keyboard.press("a");
          return await card.count();
        })
        .toBe(0);
      await page.getByRole("feed").getByText("The first is done.").waitFor();
      await page.context().close();
    },
  );

  test("U19: the approval setting is chosen with the arrow keys, and the dialog stays until it is closed", async () => {
    const id = await web.converse(null);
    const page = await web.logInAt(`/c/${id}`);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Approval settings" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: "never" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const always = dialog.getByRole("radio", { name: "before each action" });
    await expect.poll(() => always.isChecked()).toBe(true);
    const policyOf = async (): Promise<unknown> =>
      (await web.call("GET", `/api/conversations/${id}`))["confirmation_policy"];
    await expect.poll(policyOf).toMatchObject({ kind: "AlwaysConfirm" });
    expect(await always.isChecked()).toBe(true);
    await page.keyboard.press("Escape");
    await expect.poll(() => dialog.count()).toBe(0);
    await page.context().close();
  });

  test.skipIf(isPhone)(
    "S6: unread conversations are marked until opened; pinned ones are on top, archived ones in a separate list",
    async () => {
      const page = await web.logIn();
      const rail = page.getByRole("navigation", { name: "Conversations" });
      const title = `Marks ${Date.now()}`;
      const id = await web.converse("first", { title });
      const entry = rail.getByRole("link", { name: new RegExp(title) });
      await entry.getByRole("img", { name: "new" }).waitFor();
      await entry.click();
      await expectStatus(page, "done");
      const unread = async (): Promise<boolean> => {
        const { items } = (await web.call("GET", "/api/glances?limit=5")) as {
          items: { id: string; last_event_id: string; read_event_id: string | null }[];
        };
        const summary = items.find((item) => item.id === id);
        return summary?.last_event_id !== summary?.read_event_id;
      };
      await expect.poll(unread).toBe(false);
      await rail.getByRole("link", { name: "Inbox" }).click();
      await expect.poll(() => entry.getByRole("img", { name: "new" }).count()).toBe(0);

      await entry.click();
      const choose = async (name: string): Promise<void> => {
        await page.getByRole("button", { name: "More" }).click();
        await page.getByRole("menuitem", { name, exact: true }).click();
      };
      await choose("Pin");
      await rail.getByRole("group", { name: "Pinned" }).getByRole("link", { name: title }).waitFor();
      await choose("Unpin");
      await expect.poll(() => rail.getByRole("group", { name: "Pinned" }).count()).toBe(0);
      await choose("Archive");
      await expect.poll(() => entry.count()).toBe(0);
      await rail.getByRole("link", { name: "Archived" }).click();
      const row = page.getByRole("main").getByRole("listitem").filter({ hasText: title });
      await row.getByRole("button", { name: "Unarchive" }).click();
      await expect.poll(() => row.count()).toBe(0);
      await entry.waitFor();
      await page.context().close();
    },
  );

  test("J26: on request the user is notified of pending actions and ended runs, but not of visible ones", async () => {
    const page = await web.logIn();
    // The system would show them where no test can read them.
    await page.addInitScript(() => {
      const shown: unknown[] = [];
      class Recorded extends EventTarget {
        static permission = "default";
        static requestPermission(): Promise<string> {
          Recorded.permission = "granted";
          return Promise.resolve(Recorded.permission);
        }
        constructor(title: string, options: object) {
          super();
          shown.push({ title, ...options, open: () => this.dispatchEvent(new Event("click")) });
        }
        close(): void {}
      }
      Object.assign(window, { Notification: Recorded, shown });
    });
    type Shown = { title: string; body: string; tag: string; open: () => void };
    const shown = (): Promise<Omit<Shown, "open">[]> =>
      page.evaluate(() =>
        (window as unknown as { shown: Shown[] }).shown.map(({ title, body, tag }) => ({ title, body, tag })),
      );
    await page.goto(`${web.url}/settings/notifications`);
    await page.getByRole("checkbox", { name: "An agent needs approval" }).check();
    await page.getByRole("checkbox", { name: "An agent is done" }).check();
    const always = { confirmation_policy: { kind: "AlwaysConfirm" } };
    const asking = await web.converse("first", { title: "Asking", ...always });
    await expect.poll(shown).toEqual([{ title: "Asking", body: "Needs approval: say one", tag: asking }]);
    await page.evaluate(() => (window as unknown as { shown: Shown[] }).shown[0]!.open());
    await page.waitForURL(`${web.url}/c/${asking}`);
    const card = page.getByRole("group", { name: /^Approval/ });
    await card.waitFor();
    await expect
      .poll(async () => {
        const allow = card.getByRole("button", { name: "Allow", exact: true });
        if ((await allow.count()) > 0) await allow.click();
        return await card.count();
      })
      .toBe(0);
    await expectStatus(page, "done");
    const other = await web.converse("third", { title: "Other" });
    await expect.poll(async () => (await shown()).map(({ tag }) => tag)).toEqual([asking, other]);
    await page.context().close();
  });

  test.skipIf(isPhone)(
    "a long list of conversations is drawn as far as somebody goes, and searched in whole",
    async () => {
      for (let number = 0; number < 120; number += 1)
        await web.converse(null, { title: `Shelf ${String(number).padStart(3, "0")}.` });
      const page = await web.logIn();
      const rail = page.getByRole("navigation", { name: "Conversations" });
      const shelf = rail.getByRole("link", { name: /Shelf \d+\./ });
      await rail.getByRole("link", { name: "Shelf 119." }).waitFor();
      expect(await shelf.count()).toBeLessThan(100);
      const first = rail.getByRole("link", { name: "Shelf 000." });
      await rail.getByRole("searchbox").fill("shelf 000.");
      await first.waitFor();
      await rail.getByRole("searchbox").fill("");
      await expect.poll(() => first.count()).toBe(0);
      await shelf.first().hover();
      await expect
        .poll(async () => {
          await page.mouse.wheel(0, 2_000);
          return await first.count();
        })
        .toBe(1);
      expect(await shelf.count()).toBe(120);
      await page.context().close();
    },
  );
});
