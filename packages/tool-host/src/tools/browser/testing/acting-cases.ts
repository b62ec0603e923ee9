import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test as placeTest } from "vitest";
import type { Surfer } from "./browser-bench.ts";
import type { SharedBench } from "./share-browser-bench.ts";

/** Effects of actions on pages. All tests share one browser; each has its own context. */
export function describeActing(shared: SharedBench): void {
  const { surf, pageTest: test } = shared;

  describe("navigation", () => {
    test("tools 20.7.1: says where it arrived", async () => {
      const surfer = await surf();
      expect(await surfer.open("/redirect")).toMatchObject({
        isError: false,
        text: expect.stringMatching(/\/second in tab [0-9A-F]{4}\. Title: Second/),
      });
    });

    test("tools 20.7.1: what cannot be opened is an error with its reason", async () => {
      const surfer = await surf();
      // A proxy may answer in the place of the host.
      expect(JSON.stringify(await surfer.run("Navigate", { url: "http://no-such-host.invalid/" }))).toMatch(
        /no host of this name|no network|status 403/,
      );
      for (const [url, reason] of [
        ["http://127.0.0.1:9/", "could not be opened"],
        [`${shared.bench.pages.url}/cut`, "sent nothing"],
        [`${shared.bench.pages.url}/circle`, "circle"],
        ["http://", "not an address"],
        ["", "not an address"],
        ["file:///etc/passwd", "closed"],
        ["chrome://settings", "closed"],
        ["javascript:alert(1)", "closed"],
        ["view-source:http://127.0.0.1", "closed"],
        ["ftp://127.0.0.1/", "closed"],
      ] as const)
        expect(await surfer.run("Navigate", { url }), url).toMatchObject({
          isError: true,
          text: expect.stringContaining(reason),
        });
    });

    test("an error status is reported with the page", async () => {
      const surfer = await surf();
      expect((await surfer.open("/missing")).text).toContain("status 404");
    });

    test("a page that never finishes loading is shown as it is", async () => {
      const surfer = await surf("/slow-script");
      expect(await surfer.content()).toContain("Here at once");
    });

    test("tools 20.7.1: forbidden domains are unreachable, also through redirects, links, frames and images", async () => {
      const surfer = await surf("/", { allowed_domains: ["127.0.0.1"] });
      expect(await surfer.open(`${shared.bench.pages.otherUrl}/second`)).toMatchObject({
        isError: true,
        text: expect.stringContaining("allowed domains"),
      });
      expect(await surfer.open("/leave")).toMatchObject({ isError: true });
      await surfer.open("/frames");
      expect((await surfer.state()).interactive_elements.map(({ text }) => text)).toEqual(["Press me", ""]);
    });

    test("allowed domains take wildcards", async () => {
      const surfer = await surf(undefined, { allowed_domains: ["*.localhost"] });
      expect(await surfer.open(`${shared.bench.pages.otherUrl}/second`)).toMatchObject({ isError: false });
      expect(await surfer.open("/second")).toMatchObject({ isError: true });
    });

    test("going back goes back in the page's own history too, and says when there is nothing before", async () => {
      const surfer = await surf("/second");
      expect(await surfer.run("GoBack")).toMatchObject({ isError: true });
      await surfer.open("/spa");
      await surfer.click("Go on");
      expect((await surfer.state()).url).toMatch(/\/spa\/next$/);
      expect(await surfer.run("GoBack")).toMatchObject({
        isError: false,
        text: expect.stringMatching(/\/spa\.$/),
      });
      expect(await surfer.run("GoBack")).toMatchObject({ text: expect.stringMatching(/\/second\.$/) });
    });

    test("an address without a scheme is one of the web", async () => {
      const surfer = await surf();
      expect((await surfer.run("Navigate", { url: "no-such-host.invalid" })).text).toContain(
        "https://no-such-host.invalid/",
      );
    });
  });

  describe("tabs", () => {
    test("tools 20.7.6: open, list, switch and close, by ids of four characters", async () => {
      const surfer = await surf("/");
      await surfer.run("Navigate", { url: `${shared.bench.pages.url}/second`, new_tab: true });
      const { tabs } = await surfer.state();
      expect(tabs).toHaveLength(2);
      expect(tabs.map(({ current }) => current ?? false)).toEqual([false, true]);
      const listed = JSON.parse((await surfer.run("ListTabs")).text) as typeof tabs;
      expect(listed.map(({ tab_id }) => tab_id)).toEqual(tabs.map(({ tab_id }) => tab_id));
      await surfer.run("SwitchTab", { tab_id: tabs[0]!.tab_id });
      expect((await surfer.state()).title).toBe("Home");
      expect(await surfer.run("CloseTab", { tab_id: tabs[0]!.tab_id })).toMatchObject({
        text: expect.stringContaining(`${shared.bench.pages.url}/second`),
      });
      expect((await surfer.state()).title).toBe("Second");
    });

    test("tools 20.7.6: an unknown id is an error that names those there are; the last tab can be closed", async () => {
      const surfer = await surf("/");
      const [tab] = (await surfer.state()).tabs;
      for (const kind of ["SwitchTab", "CloseTab"])
        expect(await surfer.run(kind, { tab_id: "ZZZZ" })).toMatchObject({
          isError: true,
          text: expect.stringContaining(tab!.tab_id),
        });
      expect(await surfer.run("CloseTab", { tab_id: tab!.tab_id })).toMatchObject({
        text: expect.stringContaining("about:blank"),
      });
    });

    test("a popup comes to the front and is reported; one that closes itself does no harm", async () => {
      const surfer = await surf("/popups");
      expect((await surfer.click("Open")).text).toMatch(/A new tab [0-9A-F]{4} opened/);
      expect((await surfer.state()).title).toBe("Second");
      await surfer.run("SwitchTab", { tab_id: (await surfer.state()).tabs[0]!.tab_id });
      expect(await surfer.click("Flash")).toMatchObject({
        isError: false,
        text: expect.stringContaining("Clicked"),
      });
      expect(await surfer.run("GetState")).toMatchObject({ isError: false });
    });

    test("a link is opened in a new tab; an element without a link is clicked in place, and this is reported", async () => {
      const surfer = await surf("/popups");
      expect((await surfer.click("Plain", { new_tab: true })).text).toContain("new tab");
      expect((await surfer.state()).tabs).toHaveLength(2);
      await surfer.run("SwitchTab", { tab_id: (await surfer.state()).tabs[0]!.tab_id });
      expect((await surfer.click("No link", { new_tab: true })).text).toContain("no link");
      expect((await surfer.state()).title).toBe("span");
    });
  });

  describe("clicks", () => {
    test("tools 20.7.3: an index that is unknown or gone is an error that says to read the state", async () => {
      const surfer = await surf("/vanish");
      expect(await surfer.run("Click", { index: 999 })).toMatchObject({
        isError: true,
        text: expect.stringContaining("browser_get_state"),
      });
      const going = await surfer.indexOf("Going");
      await surfer.click("Remove");
      expect(await surfer.run("Click", { index: going })).toMatchObject({
        isError: true,
        text: expect.stringContaining("any more"),
      });
      await surfer.open("/second");
      expect(await surfer.run("Click", { index: going })).toMatchObject({ isError: true });
    });

    test("tools 20.7.3: lists and fields for files are refused with the tool that works", async () => {
      const surfer = await surf("/fields");
      expect(await surfer.click("Size")).toMatchObject({
        isError: true,
        text: expect.stringContaining("browser_type"),
      });
      await surfer.open("/upload");
      expect(await surfer.click("Files")).toMatchObject({
        isError: true,
        text: expect.stringContaining("browser_type"),
      });
    });

    test("a covering element is named, and a disabled one is reported", async () => {
      const surfer = await surf("/glass");
      expect(await surfer.click("Under glass")).toMatchObject({
        isError: true,
        text: expect.stringContaining('id="glass"'),
      });
      expect((await surfer.state()).title).toBe("Glass");
      await surfer.open("/fields");
      expect(await surfer.click("Locked")).toMatchObject({
        isError: true,
        text: expect.stringContaining("disabled"),
      });
    });

    test("views that scripts draw are clicked through", async () => {
      const surfer = await surf("/spa");
      expect((await surfer.click("Go on")).text).toContain("/spa/next");
      expect(await surfer.content()).toContain("Next view");
    });

    test("a canvas is clicked in its middle and takes keys", async () => {
      const surfer = await surf("/canvas");
      await surfer.click("Board");
      expect((await surfer.state()).visible_text).toContain("hit 150 100");
      await surfer.type("Board", "x");
      expect(await surfer.content()).toContain("hit 150 100");
    });

    test("a checkbox is set by a click", async () => {
      const surfer = await surf("/fields");
      await surfer.click("Agree");
      expect((await surfer.state()).interactive_elements.find(({ text }) => text === "Agree")).toMatchObject({
        checked: true,
      });
    });

    test("dialogs are answered and reported", async () => {
      const surfer = await surf("/dialogs");
      expect((await surfer.click("Alert")).text).toContain('"Mind the gap". It was accepted');
      expect((await surfer.click("Confirm")).text).toContain('"Sure?". It was accepted');
      expect((await surfer.click("Prompt")).text).toContain('"Who?". It was dismissed');
      const texts = (await surfer.state()).interactive_elements.map(({ text }) => text);
      expect(texts).toEqual(["alerted", "true", "null", "Arm"]);
      await surfer.click("Arm");
      expect(await surfer.open("/second")).toMatchObject({ isError: false });
    });

    test("scrolling makes an endless list grow", async () => {
      const surfer = await surf("/endless");
      for (let count = 0; count < 4; count++) await surfer.run("Scroll", { direction: "down" });
      expect(await surfer.content()).toContain("Item 25");
      expect((await surfer.run("Scroll", { direction: "up" })).text).toMatch(/pixels \d+ to \d+ of \d+/);
    });
  });

  describe("fields", () => {
    test("tools 20.7.4: what was there is replaced, and scripts see keys and input", async () => {
      const surfer = await surf("/fields");
      expect((await surfer.type("Your name", "Ada")).text).toContain("3 characters");
      const state = await surfer.state();
      expect(state.interactive_elements[0]).toMatchObject({ value: "Ada" });
      expect(state.visible_text).toMatch(/keydown:.*input:Ada/);
    });

    test.each([
      ["Day", "2026-02-03", "2026-02-03"],
      ["Time", "14:05", "14:05"],
      ["Colour", "#1a2b3c", "#1a2b3c"],
      ["Volume", "7", "7"],
      ["Mail", "ada@example.com", "ada@example.com"],
      ["Story", "line one\nline two", "line one\nline two"],
      ["Story", "long ".repeat(100), `${"long ".repeat(100).slice(0, 99)}…`],
      ["Size", "Large", "Large"],
      ["Size", "l", "Large"],
    ])("tools 20.7.4: %s takes %j", async (field, text, shown) => {
      const surfer = await surf("/fields");
      expect(await surfer.type(field, text)).toMatchObject({ isError: false });
      const found = (await surfer.state()).interactive_elements.find((element) => element.text === field);
      expect(found).toMatchObject({ value: shown });
    });

    test("rich text is replaced", async () => {
      const surfer = await surf("/fields");
      await surfer.type("Rich", "new words");
      const content = await surfer.content();
      expect(content).toContain("new words");
      expect(content).not.toContain("rich **text**");
    });

    test.each([
      ["Day", "tomorrow", "2026-01-31"],
      ["Size", "Medium", "Small, Large, Huge"],
      ["Size", "Huge", "can be chosen"],
      ["Agree", "yes", "browser_click"],
      ["Locked", "x", "disabled"],
      ["Fixed", "x", "only be read"],
    ])("what %s does not take (%j) is an error that says why", async (field, text, reason) => {
      const surfer = await surf("/fields");
      expect(await surfer.type(field, text)).toMatchObject({
        isError: true,
        text: expect.stringContaining(reason),
      });
    });

    test("fields in frames and shadow roots take text", async () => {
      const surfer = await surf("/frames");
      const fields = (await surfer.state()).interactive_elements.filter(
        (element) => element["placeholder"] === "Framed",
      );
      for (const { index } of fields)
        expect(await surfer.run("Type", { index, text: `in ${index}` })).toMatchObject({ isError: false });
      const after = (await surfer.state()).interactive_elements.filter(
        (element) => element["placeholder"] === "Framed",
      );
      expect(after.map((element) => element["value"])).toEqual(fields.map(({ index }) => `in ${index}`));
    });

    placeTest("files of the workspace are given to pages, and no others", async () => {
      const surfer = await surf("/upload");
      const files = surfer.outside(surfer.workspaceDir);
      await mkdir(join(files, "sub"), { recursive: true });
      await writeFile(join(files, "a.txt"), "A");
      await writeFile(join(files, "sub/b.txt"), "B");
      await symlink("/etc/hostname", join(files, "link"));
      expect(await surfer.type("Files", "a.txt\nsub/b.txt")).toMatchObject({ isError: false });
      expect(await surfer.content()).toContain("a.txt=A,b.txt=B");
      for (const path of ["/etc/passwd", "../state", "link", "none.txt", ""])
        expect(await surfer.type("Files", path), path).toMatchObject({ isError: true });
    });
  });

  describe("downloads", () => {
    placeTest(
      "are saved in the workspace and named in the answer; two with one name stay separate",
      async () => {
        const surfer = await surf("/downloads");
        await textAfterDownload(surfer, "Text", join(surfer.workspaceDir, "downloads", "file.txt"));
        await textAfterDownload(surfer, "Text", "file-2.txt");
        expect(
          await readFile(surfer.outside(join(surfer.workspaceDir, "downloads", "file.txt")), "utf8"),
        ).toBe("the content");
      },
    );

    placeTest("a name cannot lead out of the folder", async () => {
      const surfer = await surf("/downloads");
      const text = await textAfterDownload(surfer, "Evil name", join(surfer.workspaceDir, "downloads/"));
      expect(text).not.toContain("..");
    });

    placeTest("one that breaks is reported as failed", async () => {
      const surfer = await surf("/downloads");
      await textAfterDownload(surfer, "Broken", "half.bin failed");
    });

    placeTest("an address that is a file is downloaded", async () => {
      const surfer = await surf("/");
      expect(await surfer.open("/file.txt")).toMatchObject({
        isError: false,
        text: expect.stringContaining("downloads/file.txt"),
      });
      expect((await surfer.state()).title).toBe("Home");
    });

    placeTest("a PDF comes to the workspace, where other tools can read it", async () => {
      const surfer = await surf("/");
      expect((await surfer.open("/paper.pdf")).text).toContain("downloads/paper.pdf");
    });
  });

  placeTest(
    "tools 20.7.9: a whole rrweb array, over navigations, offline, under a strict policy",
    async () => {
      const surfer = await surf("/changing");
      const started = await surfer.run("StartRecording");
      expect(started.isError).toBe(false);
      await surfer.click("Change");
      await surfer.open("/csp");
      await surfer.run("Scroll");
      const stopped = await surfer.run("StopRecording");
      const path = / in (\S+\.json)\.$/.exec(stopped.text)![1]!;
      expect(path).toContain("/observations/");
      const events = JSON.parse(await readFile(surfer.outside(path), "utf8")) as {
        type: number;
        data: { href?: string };
      }[];
      expect(stopped.text).toContain(`${events.length} events`);
      const pagesSeen = events
        .filter(({ type }) => type === 4)
        .map(({ data }) => new URL(data.href!).pathname);
      expect(pagesSeen).toEqual(["/changing", "/csp"]);
      expect(events.filter(({ type }) => type === 2).length).toBeGreaterThanOrEqual(2);
    },
  );
}

/** Clicks to start a download, and collects answers until they contain `expected`: that of the click, or a later one. */
async function textAfterDownload(surfer: Surfer, name: string, expected: string): Promise<string> {
  const texts = [(await surfer.click(name)).text];
  const all = (): string => texts.join("\n");
  const listen = async (): Promise<string> => {
    if (!all().includes(expected)) texts.push((await surfer.run("ListTabs")).text);
    return all();
  };
  await expect.poll(listen).toContain(expected);
  return all();
}
