import { describe, expect, test } from "vitest";
import { BrowserPerson } from "./browser-person.ts";
import type { SharedBench } from "./share-browser-bench.ts";

/** An element that a busy page does not name in time is called the page. */
const named = (name: string): string => `(?:${name}|the page)`;

/** People who watch the agent's browser and take control. Positions on the page `/watched` are fixed. */
export function describeWatching(shared: SharedBench): void {
  const { surf } = shared;
  const field = [100, 35] as const;
  const password = [100, 85] as const;
  const button = [100, 135] as const;

  describe("issue 11.2: people at the browser", () => {
    test("a watcher sees that there is no browser, then its tabs and pictures of the front tab, until it is closed", async () => {
      const surfer = await surf();
      await using person = BrowserPerson.at(surfer.session);
      await person.until(() => person.isOpen === false);
      expect(person.pictures).toEqual([]);
      await surfer.open("/watched");
      await person.until(() => person.front?.title === "Watched" && person.pictures.length > 0);
      const [picture] = person.pictures;
      const bytes = Buffer.from(picture!.data, "base64");
      expect(bytes.subarray(0, 3).toString("hex")).toBe("ffd8ff");
      expect(picture).toMatchObject({ width: 1280, height: 720 });
      const another = person.seesAnother();
      await surfer.open(`${shared.bench.pages.otherUrl}/second`);
      await another;
      await person.until(() => person.front?.title === "Second");
      await surfer.run("Navigate", { url: `${shared.bench.pages.url}/watched`, new_tab: true });
      await person.until(() => person.front?.title === "Watched");
      expect(person.updates.findLast((update) => update.type === "state")?.tabs).toHaveLength(2);
      await surfer[Symbol.asyncDispose]();
      await person.left;
    });

    test("a page that changes all the time is sent at most five times a second, and a second person sees it at once", async () => {
      const surfer = await surf("/moving");
      await using person = BrowserPerson.at(surfer.session);
      await person.until(() => person.pictures.length >= 30);
      const times = person.pictures.map(({ atMs }) => atMs);
      expect((times.at(-1)! - times[0]!) / (times.length - 1)).toBeGreaterThan(150);
      await using second = BrowserPerson.at(surfer.session);
      await second.until(() => second.pictures.length > 0 && second.front?.title === "Moving");
    });

    test("a person takes control, clicks and types; the agent waits, continues, and gets a report of what was done", async () => {
      const surfer = await surf("/watched");
      await using person = BrowserPerson.at(surfer.session);
      await using other = BrowserPerson.at(surfer.session);
      await person.take();
      await other.until(() => other.lent?.isLent === true);
      expect(other.lent).toMatchObject({ isYours: false });
      const waiting = surfer.state();
      person.click(...field);
      person.press("A", "d", "ä");
      person.do({ type: "text", text: " Lovelace" });
      person.click(...password);
      person.press("x", "y");
      person.click(...button);
      await person.until(() => person.front?.url.includes("/second") === true);
      await person.give();
      const did = [
        `clicked ${named('field "Name"')}`,
        `typed 12 characters into ${named('field "Name"')}`,
        `clicked ${named("a password field")}`,
        `typed 2 characters into ${named("a password field")}`,
        `clicked ${named('button "Go on"')}`,
        `came to ${shared.bench.pages.url}/second`,
      ];
      expect(person.lent?.did).toMatch(new RegExp(`^${did.join("; ")}`));
      expect(other.lent).not.toHaveProperty("did");
      expect((await waiting).url).toContain("/second?name=Ad%C3%A4+Lovelace");
    });

    test("the agent gets the report with its next answer; a person who disconnects gives control back", async () => {
      const surfer = await surf("/watched");
      await using person = BrowserPerson.at(surfer.session);
      await person.take();
      person.click(...field);
      person.do({ type: "wheel", x: 300, y: 300, dx: 0, dy: 400 });
      await person.leave();
      const did = `clicked ${named('field "Name"')}; scrolled`;
      expect(person.lent).toMatchObject({
        isYours: false,
        did: expect.stringMatching(new RegExp(`^${did}$`)) as string,
      });
      const { text } = await surfer.run("ListTabs");
      expect(text).toMatch(new RegExp(`They ${did}\\.`));
      expect((await surfer.run("ListTabs")).text).not.toContain("A person");
    });

    test("one person has control at a time; others cannot use it, and before the agent opens it there is nothing to take", async () => {
      const surfer = await surf();
      await using person = BrowserPerson.at(surfer.session);
      await using other = BrowserPerson.at(surfer.session);
      person.do({ type: "take" });
      await person.until(() => person.refusals.length === 1);
      expect(person.refusals[0]).toContain("no browser yet");
      await surfer.open("/watched");
      await person.take();
      other.do({ type: "take" });
      other.do({ type: "text", text: "never" });
      await other.until(() => other.refusals.length === 2);
      expect(other.refusals).toEqual([
        expect.stringContaining("Somebody else"),
        expect.stringContaining("Take it over"),
      ]);
      person.press("NoSuchKey");
      person.do({ type: "tab", id: "none" });
      await person.until(() => person.refusals.length === 3);
      await person.give();
      expect((await surfer.state()).interactive_elements[0]).not.toHaveProperty("value");
      await other.take();
    });

    test("P43: a call that waits for the person ends when it is stopped", async () => {
      const surfer = await surf("/watched");
      await using person = BrowserPerson.at(surfer.session);
      await person.take();
      const stop = new AbortController();
      const ended = surfer.outcome("ListTabs", {}, stop.signal);
      stop.abort();
      expect(await ended).toMatchObject({ type: "cancelled" });
      expect(person.lent).toMatchObject({ isYours: true });
    });

    test("P13: no picture, title or deed shows a secret", async () => {
      const secrets = [{ name: "PASSWORD", value: "correct horse" }];
      const surfer = await surf("/masked");
      await surfer.run("Type", { index: await surfer.indexOf(""), text: "correct horse" });
      await using person = BrowserPerson.at(surfer.session);
      await person.until(() => person.pictures.length > 0);
      const plain = person.pictures.at(-1)!.data;
      await surfer.run("ListTabs", {}, secrets);
      // A picture from before the secret was known may still arrive.
      await person.until(() => person.pictures.at(-1)!.data !== plain);
      const count = person.pictures.length;
      await surfer.run("Navigate", { url: `${shared.bench.pages.url}/watched?correct horse` }, secrets);
      await person.until(() => person.front?.url.includes("secret-hidden") === true);
      expect(person.pictures.slice(count).map(({ data }) => data)).not.toContain(plain);
    });
  });
}
