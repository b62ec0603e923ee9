import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { cutScript, playCuts } from "./cut-journey.ts";
import { everySecond } from "./every-case.ts";
import { desktop, isPhone, noBrowser, phone, WebBrowser } from "./web-browser.ts";
import {
  about,
  expectStatus,
  finish,
  hostile,
  send,
  sidewaysOf,
  tabTo,
  takePictures,
  terminal,
  untilAtRest,
  violationsInBothThemes,
  violationsOf,
} from "./web-page.ts";

const cuts = 10;

/** Screens shown in the guide, by their address. */
const pictures = new Map([
  ["/", "home"],
  ["/inbox", "inbox"],
]);

const script = [
  ...cutScript(cuts),
  ...about(
    "repair",
    {
      reasoning: "First I look.",
      text: "I will look first.",
      tool_calls: [terminal("printf 'one\\ntwo\\n' > note.txt; cat note.txt", "write a note")],
    },
    { tool_calls: [terminal("cat missing.txt", "read what is not there")] },
    finish("The note has **two** lines.\n\n| line | text |\n|---|---|\n| 1 | one |"),
  ),
  ...about("slow", { tool_calls: [terminal("sleep 60", "wait a minute")] }, finish("Done waiting.")),
  ...about("Explain", {
    text: `The first part.\n\n\`\`\`js\nconst one = 1;\n\n  two();\n\`\`\`\n\nIt goes on${" and on".repeat(4_000)}.`,
    chunk_size: 12,
    chunk_delay_ms: 150,
  }),
  ...about("talk", { text: "word ".repeat(1_200), chunk_size: 20, chunk_delay_ms: 20 }),
  ...about(
    "danger",
    { tool_calls: [terminal("rm -rf build", "remove the build")] },
    finish("It is gone, or it is not."),
  ),
  ...about(
    "hostile",
    {
      text: hostile,
      tool_calls: [
        terminal(`cat <<'END'\n${hostile}\nEND`, "<b>bold</b> <script>window.hacked = 1</script>"),
      ],
    },
    finish(hostile),
  ),
];

describe.skipIf(noBrowser !== null)("the page", () => {
  let web: WebBrowser;
  beforeAll(async () => {
    web = await WebBrowser.open(script);
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  test("J3, U5: from a one-time link to a finished conversation", async () => {
    const page = await web.logIn();
    expect(page.url()).not.toContain("#");
    await page.getByLabel("Folder").fill(web.place.folder);
    await send(page, "Please repair the note");
    const feed = page.getByRole("feed");
    await feed.getByText("The note has two lines.").waitFor();
    await expectStatus(page, "done");
    await feed.getByRole("button", { name: "write a note" }).click();
    await feed.locator("pre", { hasText: "one" }).waitFor();
    await expect.poll(() => feed.getByText("exit 1").count()).toBe(1);
    await expect.poll(() => feed.getByRole("table").getByRole("cell", { name: "one" }).count()).toBe(1);
    if (isPhone) await page.goto(`${web.url}/conversations`);
    const link = page.getByRole("link", { name: /repair the note/ });
    await expect.poll(() => link.count()).toBe(1);
    await page.context().close();
  });

  test("J4: a reload, a second tab and a phone show the same", async () => {
    const id = await web.converse("repair it");
    const page = await web.logInAt(`/c/${id}`);
    await expectStatus(page, "done");
    await page.getByRole("feed").getByRole("table").waitFor();
    const shown = await textOf(page);
    await page.reload();
    await expect.poll(() => textOf(page)).toBe(shown);
    const tab = await web.tab(page);
    await tab.goto(`${web.url}/c/${id}`);
    await expect.poll(() => textOf(tab)).toBe(shown);
    const small = await web.logInAt(`/c/${id}`, phone);
    await expect.poll(async () => words(await textOf(small))).toBe(words(shown));
    expect(await sidewaysOf(small)).toBe(0);
    await page.context().close();
    await small.context().close();
  });

  test("J7: stop ends the run, and go on continues it", async () => {
    const id = await web.converse("something slow");
    const page = await web.logInAt(`/c/${id}`);
    await page.getByRole("button", { name: "wait a minute" }).waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await expectStatus(page, "paused");
    await page.getByRole("feed").getByText("Stopped").waitFor();
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await page.getByText("Done waiting.").waitFor();
    await page.context().close();
  });

  test("J8, U9: scrolling up loads older pages, and nothing moves by itself", async () => {
    const id = await web.converse(null);
    for (let index = 0; index < 150; index += 1) {
      const content = `Message ${index} ${"and more ".repeat(index % 7)}`;
      await web.call("POST", `/api/conversations/${id}/events`, { content, run: false });
    }
    const page = await web.logInAt(`/c/${id}`);
    await page.getByText("Message 149").waitFor();
    const jumps = await page.getByRole("feed").evaluate(scrollToTop);
    expect(jumps.largest).toBeLessThanOrEqual(1);
    expect(jumps.frames).toBeGreaterThan(50);
    await page.getByText("Message 0 ", { exact: false }).first().waitFor();
    await page.getByRole("button", { name: "Jump to latest" }).click();
    await page.getByText("Message 149").waitFor();
    await page.context().close();
  });

  test("J9: a reader further up is not moved while an answer streams and ends", async () => {
    const id = await web.converse(null);
    for (let index = 0; index < 40; index += 1)
      await web.call("POST", `/api/conversations/${id}/events`, { content: `Line ${index}`, run: false });
    const page = await web.logInAt(`/c/${id}`);
    await page.getByRole("feed").getByText("Line 39").waitFor();
    await web.call("POST", `/api/conversations/${id}/events`, { content: "Now talk", run: true });
    await page.getByText("Writing, not saved yet").waitFor();
    const feed = page.getByRole("feed");
    await feed.hover();
    await page.mouse.wheel(0, -900);
    await page.getByRole("button", { name: /new$|Jump to latest/ }).waitFor();
    await untilAtRest(feed);
    const before = await feed.evaluate((element) => element.scrollTop);
    await expectStatus(page, "done");
    expect(await feed.evaluate((element) => element.scrollTop)).toBe(before);
    await page.context().close();
  });

  test("J10, U11: selected text stays selected while the answer streams, and code is copied unchanged", async () => {
    const id = await web.converse(null);
    const page = await web.logInAt(`/c/${id}`);
    await send(page, "Explain it");
    const feed = page.getByRole("feed");
    await feed.getByText("The first part.").waitFor();
    await feed.getByText("The first part.").evaluate((element) => getSelection()!.selectAllChildren(element));
    await feed.getByText(/goes on( and on){20}/).waitFor();
    expect(await page.evaluate(() => String(getSelection()))).toBe("The first part.");
    // The first one copies the message.
    await feed.getByRole("button", { name: "Copy" }).last().click();
    const field = page.getByRole("textbox", { name: "Message" });
    const pasted = async (): Promise<string> => {
      await field.fill("");
      await field.press("Control+V");
      return await field.inputValue();
    };
    await expect.poll(pasted).toBe("const one = 1;\n\n  two();");
    await web.call("POST", `/api/conversations/${id}/interrupt`);
    await page.context().close();
  });

  test("J11, U16: a draft survives leaving, reloading and closing, and stays in its conversation", async () => {
    const [one, two] = [await web.converse(null), await web.converse(null)];
    const page = await web.logInAt(`/c/${one}`);
    const field = page.getByRole("textbox", { name: "Message" });
    await field.fill("half a thought");
    await page.goto(`${web.url}/c/${two}`);
    await expect.poll(() => field.inputValue()).toBe("");
    await page.reload();
    await page.goto(`${web.url}/c/${one}`);
    await expect.poll(() => field.inputValue()).toBe("half a thought");
    const tab = await web.tab(page);
    await page.close();
    await tab.goto(`${web.url}/c/${one}`);
    await expect
      .poll(() => tab.getByRole("textbox", { name: "Message" }).inputValue())
      .toBe("half a thought");
    await tab.context().close();
  });

  test("J13, U15: the server is killed and restarted: no reload, and a message sent meanwhile is there once", async () => {
    const id = await web.converse(null);
    const page = await web.logInAt(`/c/${id}`);
    const field = page.getByRole("textbox", { name: "Message" });
    await field.waitFor();
    await web.killAndRestart(async () => {
      await send(page, "Please repair after the cut");
      await page.getByText("sending").waitFor();
      await page.getByText(/Disconnected since/).waitFor();
    });
    await page.getByText("The note has two lines.").waitFor();
    await expect.poll(() => page.getByRole("feed").getByText("Please repair after the cut").count()).toBe(1);
    await expect.poll(() => page.getByText(/Disconnected since/).count()).toBe(0);
    await page.context().close();
  });

  test("J13, U15, U16: cut off and asleep at seeded moments, the page shows each event of the log once", async () => {
    const report = await playCuts(web, { count: cuts, seed: 7, killEvery: 0, sleepEvery: 5, sleepMs: 300 });
    const expected = Array.from({ length: cuts }, (_, number) => [`talk ${number}`, `Answer ${number}`]);
    expect(report).toMatchObject({
      stored: expected.flat(),
      shown: expected.flat(),
      wasReloaded: false,
    });
  });

  test.skipIf(isPhone)(
    "J5, U17, U19: an approval is answered with the keyboard alone, in the inbox and in the conversation",
    async () => {
      const always = { confirmation_policy: { kind: "AlwaysConfirm" } };
      const page = await web.logIn();
      await web.converse("danger one", always);
      await page.keyboard.press("Escape");
      // The second key must follow within a second, which a busy machine may not manage at once.
      await expect
        .poll(async () => {
          await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
          await page.keyboard.press("g");
          await page.keyboard.press("i");
          return new URL(page.url()).pathname;
        })
        .toBe("/inbox");
      const card = page.getByRole("group", { name: "Approval: terminal" });
      await card.getByText("rm -rf build").waitFor();
      await expect.poll(() => page.title()).toMatch(/^\(1\)/);
      await tabTo(page, "[data-approval]");
      await expect
        .poll(async () => {
          await page.keyboard.press("r");
          return await page.getByPlaceholder(/sent to the agent/).count();
        })
        .toBe(1);
      await page.keyboard.type("Keep it.");
      await page.keyboard.press("Enter");
      await page.getByText("Nothing needs your attention.").waitFor();
      const id = await web.converse("danger two", always);
      await page.goto(`${web.url}/c/${id}`);
      await card.waitFor();
      await expect
        .poll(async () => {
          await tabTo(page, "[data-approval]");
          await page.keyboard.press("a");
          return await card.count();
        })
        .toBe(0);
      await page.context().close();
    },
  );

  test("J29, U21: nothing that an agent writes becomes a part of the page", async () => {
    const id = await web.converse("hostile things");
    const page = await web.logInAt(`/c/${id}`);
    await expectStatus(page, "done");
    await page.getByRole("feed").getByRole("button", { name: /bold/ }).click();
    await page.getByRole("feed").locator("pre").first().waitFor();
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(await page.locator("main script, main iframe, main img, main svg[onload]").count()).toBe(0);
    const addresses = await page
      .locator("main a")
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
    expect(addresses.filter((address) => !/^https?:/.test(address))).toEqual([]);
    await page.context().close();
  });

  test.each([
    ["at a desk, light and dark", desktop, violationsInBothThemes, 0],
    ["on a phone, light", phone, violationsOf, 1],
  ] as const)("U18, U20: axe finds nothing %s", async (_, options, check, from) => {
    const workspace = { kind: "LocalWorkspace", working_dir: path.join(web.place.folder, "notes") };
    const finished = await web.converse("repair it", { title: "Repair the note", workspace });
    await web.converse("danger three", {
      title: "Remove the old build",
      workspace,
      confirmation_policy: { kind: "AlwaysConfirm" },
    });
    const page = await web.logIn({ ...options, colorScheme: "light" });
    const screens = [
      "/",
      `/c/${finished}`,
      "/inbox",
      "/settings/models",
      "/settings/secrets",
      "/settings/mcp",
      "/settings/look",
      "/settings/notifications",
      "/conversations",
      "/archived",
    ];
    for (const screen of everySecond(screens, from)) {
      await page.goto(`${web.url}${screen}`);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await page.waitForLoadState("networkidle");
      expect({ screen, found: await check(page) }).toEqual({ screen, found: [] });
      expect({ screen, sideways: await sidewaysOf(page) }).toEqual({ screen, sideways: 0 });
      const picture = options === desktop ? pictures.get(screen) : undefined;
      await page.emulateMedia({ colorScheme: "light" });
      if (picture !== undefined) await takePictures(page, picture, "phone", "dark");
    }
    await page.context().close();
  });
});

test.skipIf(noBrowser !== null)(
  "J1, U1: without a model the demo plays, and its one approval is answered",
  async () => {
    await using web = await WebBrowser.open(null);
    const page = await web.logIn();
    await page.getByRole("button", { name: "Run the demo" }).click();
    const card = page.getByRole("group", { name: /^Approval/ });
    await expect.poll(() => card.textContent()).toContain("index = 0;");
    await takePictures(page, "approval", "phone");
    await expect
      .poll(async () => {
        const allow = card.getByRole("button", { name: "Allow", exact: true });
        if ((await allow.count()) > 0) await allow.click();
        return await card.count();
      })
      .toBe(0);
    await expectStatus(page, "done");
    await takePictures(page, "conversation", "phone", "dark");
    await page.goto(`${page.url()}?panel=outline`);
    await page
      .getByRole("region", { name: "Outline" })
      .getByRole("button", { name: /failing/ })
      .waitFor();
    await takePictures(page, "outline");
    expect(web.faults).toEqual([]);
  },
);

function textOf(page: Page): Promise<string> {
  return page.getByRole("feed").innerText();
}

function words(text: string): string {
  return text.split(/\s+/).join(" ");
}

/** Scrolls up by a fixed step per frame and compares a row's actual movement; runs in the page. */
async function scrollToTop(element: Element): Promise<{ largest: number; frames: number }> {
  const step = 40;
  let largest = 0;
  let frames = 0;
  let still = 0;
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  element.dispatchEvent(new WheelEvent("wheel", { deltaY: -1, bubbles: true }));
  while (still < 60 && frames < 5_000) {
    const middle = element.getBoundingClientRect().top + element.clientHeight / 2;
    const rows = [...element.querySelectorAll("article")];
    const row = rows.find((candidate) => candidate.getBoundingClientRect().bottom > middle);
    const before = row?.getBoundingClientRect().top ?? 0;
    const from = element.scrollTop;
    element.scrollTop = from - step;
    const moved = Math.min(step, from);
    await frame();
    await frame();
    if (row?.isConnected === true)
      largest = Math.max(largest, Math.abs(row.getBoundingClientRect().top - before - moved));
    frames += 1;
    still = element.scrollTop === 0 ? still + 1 : 0;
  }
  return { largest, frames };
}
