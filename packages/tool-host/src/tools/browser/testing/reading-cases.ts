import { readFile } from "node:fs/promises";
import { describe, expect, test as placeTest } from "vitest";
import type { Surfer } from "./browser-bench.ts";
import type { SharedBench } from "./share-browser-bench.ts";

const textsOf = async (surfer: Surfer): Promise<string[]> =>
  (await surfer.state()).interactive_elements.map(({ text }) => text);

/** What the model gets to see of pages. All tests share one browser; each has its own context. */
export function describeReading(shared: SharedBench): void {
  const { surf, pageTest: test } = shared;

  describe("state", () => {
    test("a page with thousands of buttons under thousands of covers is read", async () => {
      const surfer = await surf("/crowded");
      const { text } = await surfer.run("GetState");
      expect(text).toContain('"First"');
      expect(text).not.toContain('"button 5"');
    });

    test("a page of hundreds of thousands of nodes is an error that says how to go on", async () => {
      const surfer = await surf("/huge");
      expect(await surfer.run("GetState")).toMatchObject({
        isError: true,
        text: expect.stringMatching(/too many .* browser_get_content/),
      });
      expect(await surfer.content()).toContain("Much");
    });

    test("tools 20.7.2: names the page, its tabs and what can be used, with placeholder and href", async () => {
      const surfer = await surf("/article");
      const state = await surfer.state();
      expect(state).toMatchObject({
        url: `${shared.bench.pages.url}/article`,
        title: "Article",
        tabs: [
          {
            tab_id: expect.stringMatching(/^[0-9A-F]{4}$/),
            url: `${shared.bench.pages.url}/article`,
            current: true,
          },
        ],
      });
      expect(state.interactive_elements).toEqual([
        { index: 1, tag: "a", text: "Menu entry", href: "/a" },
        { index: 2, tag: "a", text: "linked words", href: "/second" },
      ]);
      expect(state.visible_text).toContain("Main title");
      const fields = await surf("/fields");
      expect((await fields.state()).interactive_elements[0]).toMatchObject({
        tag: "input",
        placeholder: "Your name",
        value: "old text",
      });
    });

    test("tools 20.7.2: an element keeps its index as long as it is there", async () => {
      const surfer = await surf("/vanish");
      const before = (await surfer.state()).interactive_elements;
      await surfer.click("Add");
      const after = (await surfer.state()).interactive_elements;
      expect(after.map(({ text }) => text)).toEqual(["New", "Remove", "Going", "Add"]);
      for (const { index, text } of before) expect(after.find((one) => one.text === text)?.index).toBe(index);
    });

    test("controls say what they are and what they hold, passwords do not", async () => {
      const surfer = await surf("/fields");
      const elements = (await surfer.state()).interactive_elements;
      const of = (text: string) => elements.find((element) => element.text === text);
      expect(of("Mail")).toMatchObject({ type: "email" });
      expect(of("Day")).toMatchObject({ type: "date" });
      expect(of("Story")).toMatchObject({ tag: "textarea", value: "before" });
      expect(of("Size")).toMatchObject({
        tag: "select",
        value: "Small",
        options: ["Small", "Large", "Huge"],
      });
      expect(of("Agree")).toMatchObject({ type: "checkbox", checked: false });
      expect(of("Locked")).toMatchObject({ disabled: true });
      expect(JSON.stringify(elements)).not.toContain("hunter2");
    });

    test("what is hidden is not there", async () => {
      const surfer = await surf("/hidden");
      expect(await textsOf(surfer)).toEqual(["Seen"]);
      expect((await surfer.state()).visible_text).toBe("Seen\nPlain paragraph");
    });

    test("every clickable element is listed once, and nothing else", async () => {
      const surfer = await surf("/clickables");
      expect(await textsOf(surfer)).toEqual([
        "Listens",
        "Hand inside",
        "Role",
        "Attribute",
        "Tab stop",
        "More",
        "In the card",
        "Label",
      ]);
    });

    test("elements below an opaque one are left out until it is gone", async () => {
      const surfer = await surf("/covered");
      expect(await textsOf(surfer)).toEqual(["Close the veil"]);
      await surfer.click("Close the veil");
      expect(await textsOf(surfer)).toEqual(["Under"]);
    });

    test("shadow roots, open and closed, are part of the page", async () => {
      const surfer = await surf("/shadow");
      expect(await textsOf(surfer)).toEqual(["Press open", "", "Press closed", ""]);
      expect(await surfer.click("Press closed")).toMatchObject({ isError: false });
      expect((await surfer.state()).visible_text).toContain("clicked");
      expect(await surfer.type("Field closed", "typed")).toMatchObject({ isError: false });
      const typed = (await surfer.state()).interactive_elements.find(
        (one) => one["placeholder"] === "Field closed",
      );
      expect(typed).toMatchObject({ value: "typed" });
    });

    test("frames of this and of another origin are part of the page", async () => {
      const surfer = await surf("/frames");
      expect(await textsOf(surfer)).toEqual(["Press me", "", "Press me", ""]);
      const [, , other] = (await surfer.state()).interactive_elements;
      expect(await surfer.run("Click", { index: other!.index })).toMatchObject({ isError: false });
      expect((await textsOf(surfer)).filter((text) => text !== "")).toEqual(["Press me", "Pressed"]);
      const [own] = (await surfer.state()).interactive_elements;
      expect(await surfer.run("Click", { index: own!.index })).toMatchObject({ isError: false });
      expect((await textsOf(surfer)).filter((text) => text !== "")).toEqual(["Pressed", "Pressed"]);
    });

    test("10,000 links fit into the answer: the nearest are kept, the others counted", async () => {
      const surfer = await surf("/links");
      const { text } = await surfer.run("GetState");
      expect(text.length).toBeLessThan(50_000);
      const state = await surfer.state();
      expect(state.elements_left_out).toBe(10_000 - state.interactive_elements.length);
      expect(state.interactive_elements[0]).toMatchObject({ text: "link 0" });
    });

    test("a page of 5,000 controls is read within seconds", async () => {
      const surfer = await surf("/buttons");
      const startedAt = performance.now();
      expect((await surfer.state()).interactive_elements.length).toBeGreaterThan(300);
      expect(performance.now() - startedAt).toBeLessThan(60_000);
    });

    test("an empty page and a blank tab have nothing", async () => {
      const surfer = await surf();
      expect(await surfer.state()).toMatchObject({
        url: "about:blank",
        interactive_elements: [],
        visible_text: "",
      });
      await surfer.open("/empty");
      expect(await surfer.state()).toMatchObject({ title: "Empty", interactive_elements: [] });
    });

    placeTest("tools 20.7.5: a screenshot only when requested, stored once, a PNG", async () => {
      const surfer = await surf("/");
      expect((await surfer.run("GetState")).observation.screenshot_data).toBeNull();
      const first = await surfer.run("GetState", { include_screenshot: true });
      const bytes = Buffer.from(first.observation.screenshot_data!, "base64");
      expect(bytes.subarray(1, 4).toString()).toBe("PNG");
      const { screenshot_file: path } = JSON.parse(first.text) as { screenshot_file: string };
      expect(await readFile(surfer.outside(path))).toEqual(bytes);
      const second = await surfer.run("GetState", { include_screenshot: true });
      expect(second.text).toContain(path);
    });
  });

  describe("content", () => {
    test("tools 20.7.7: the main content as Markdown, links when asked for", async () => {
      const surfer = await surf("/article");
      const plain = await surfer.content();
      expect(plain).toContain(
        "# Main title\n\nFirst linked words.\n\n-   One\n-   Two\n\n| Name | Age |\n| --- | --- |\n| Ada | 36  |",
      );
      expect(plain).toContain("```\nlet x = 1;\n```");
      expect(plain).toContain('100%20 of {"json":true} stays');
      expect(plain).toContain("[picture: A cat]");
      for (const left of ["Menu entry", "Imprint", "script text", "/second"])
        expect(plain).not.toContain(left);
      expect(await surfer.content({ extract_links: true })).toContain(
        `[linked words](${shared.bench.pages.url}/second)`,
      );
    });

    test("tools 20.7.7: a long page comes in parts that make the whole, and says where to read on", async () => {
      const surfer = await surf("/long");
      let start = 0;
      let whole = "";
      for (let part = 0; part < 10; part++) {
        const text = await surfer.content({ start_from_char: start });
        whole += text.slice(text.indexOf("\n\n") + 2);
        const next = /start_from_char (\d+)/.exec(text.slice(0, 300))?.[1];
        if (next === undefined) break;
        expect(Number(next)).toBeGreaterThan(start);
        expect(text.length).toBeLessThan(31_000);
        start = Number(next);
      }
      expect(whole.match(/Paragraph \d+\. It says little\./g)).toHaveLength(2_000);
    });

    test("tools 20.7.7: a start beyond the end is an error that says how long the content is", async () => {
      const surfer = await surf("/second");
      expect(await surfer.run("GetContent", { start_from_char: 5_000 })).toMatchObject({
        isError: true,
        text: expect.stringContaining("17 characters"),
      });
    });

    test("the page as it is now, not as it was", async () => {
      const surfer = await surf("/changing");
      expect(await surfer.content()).toContain("before");
      await surfer.click("Change");
      expect(await surfer.content()).toContain("after");
    });

    test.each([
      ["/shadow", "Text in open"],
      ["/frames", "In the frame"],
      ["/spa", "Go on"],
      ["/slow-script", "Here at once"],
      ["/missing", "Not here"],
      ["/csp", "Strict"],
    ])("what %s shows is read", async (path, wanted) => {
      const surfer = await surf(path);
      expect(await surfer.content()).toContain(wanted);
    });

    test("what is hidden, and an empty page, are not made up", async () => {
      const surfer = await surf("/hidden");
      expect(await surfer.content()).not.toContain("Secret paragraph");
      await surfer.open("/empty");
      expect(await surfer.content()).toContain("shows no text");
    });

    test("10,000 links are read, one part at a time", async () => {
      const surfer = await surf("/links");
      expect(await surfer.content({ extract_links: true })).toMatch(/of \d{6}; read on/);
    });
  });
}
