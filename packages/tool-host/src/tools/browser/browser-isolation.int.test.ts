import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createBrowserBench } from "./testing/browser-bench.ts";
import { openLocalPlace } from "./testing/local-place.ts";
import { shareBrowserBench } from "./testing/share-browser-bench.ts";

// Isolation and secrets.
const shared = shareBrowserBench(() => openLocalPlace({ isOtherClosed: true }));
const { surf } = shared;

describe("conversations", () => {
  test("tools 20.7.11: two conversations share no cookie, no storage and no tab", async () => {
    const one = await surf("/storage");
    const two = await surf("/show-storage");
    expect(await two.content()).toContain('[null,null,""]');
    await one.open("/show-storage");
    expect(await one.content()).toContain('["local value","session value","crumb=1"]');
    expect((await two.state()).tabs).toHaveLength(1);
    const stored = JSON.parse((await two.run("GetStorage")).text) as { cookies: unknown[] };
    expect(stored.cookies).toEqual([]);
  });

  test("tools 20.7.11: the end of one does not affect the others", async () => {
    const stays = await surf("/storage");
    const goes = await shared.bench.surf();
    await goes.open("/second");
    await goes[Symbol.asyncDispose]();
    await stays.open("/show-storage");
    expect(await stays.content()).toContain("local value");
  });

  test("tools 20.7.13: calls of one answer run one after the other", async () => {
    const surfer = await surf("/second");
    const [, state] = await Promise.all([surfer.open("/article"), surfer.state()]);
    expect(state.title).toBe("Article");
  });

  test("the server's own address is out of reach", async () => {
    const surfer = await surf();
    expect(await surfer.open(`${shared.bench.pages.otherUrl}/second`)).toMatchObject({ isError: true });
    const { port } = new URL(shared.bench.pages.otherUrl);
    const names = [
      "127.0.0.1",
      "127.1.2.3",
      "0.0.0.0",
      "0",
      "2130706433",
      "localhost.",
      "x.localhost",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:0.0.0.0]",
    ];
    for (const name of names) {
      const opened = await surfer.open(`http://${name}:${port}/second`);
      expect(opened, name).toMatchObject({ isError: true });
    }
    expect(await surfer.open("/second")).toMatchObject({ isError: false });
  });

  test("hardening 5: allowed domains, redirects, sockets and requests of a page do not reach it either", async () => {
    const { port } = new URL(shared.bench.pages.otherUrl);
    const surfer = await surf(undefined, { allowed_domains: ["localhost", "127.0.0.1"] });
    expect(await surfer.open(`http://localhost:${port}/second`)).toMatchObject({ isError: true });
    expect(await surfer.open("/second")).toMatchObject({ isError: false });
  });
});

describe("PDF pages in a browser that shows them", () => {
  const whole = shareBrowserBench(() => openLocalPlace({ isOtherClosed: true, isWhole: true }));
  const turning = (to: string): string => `/turning.pdf?to=${encodeURIComponent(to)}`;

  test("one that redirects to the server's own address when it is downloaded is not saved", async () => {
    const surfer = await whole.surf();
    const answer = await surfer.open(turning(`${whole.bench.pages.otherUrl}/paper.pdf`));
    expect(answer.text).toContain("could not be saved: it was not sent again (net::ERR_EMPTY_RESPONSE)");
    expect(existsSync(join(surfer.workspaceDir, "downloads"))).toBe(false);
  });

  test("nor is one that redirects out of the allowed domains, to something else, or too often", async () => {
    const surfer = await whole.surf(undefined, { allowed_domains: ["127.0.0.1"] });
    const elsewhere = await surfer.open(turning("http://elsewhere.invalid/paper.pdf"));
    expect(elsewhere.text).toContain("could not be saved");
    expect(elsewhere.text).toContain("elsewhere.invalid, which is not among the allowed domains");
    expect((await surfer.open(turning("/second"))).text).toContain("something else the second time");
    expect((await surfer.open("/large.pdf")).text).toContain("larger than 50 MiB");
    expect(existsSync(join(surfer.workspaceDir, "downloads"))).toBe(false);
  });
});

describe("storage", () => {
  test("tools 20.7.8: cookies, local and session storage can be moved to another conversation", async () => {
    const one = await surf("/storage");
    const storage_state = JSON.parse((await one.run("GetStorage")).text) as object;
    const two = await surf();
    expect(await two.run("SetStorage", { storage_state })).toMatchObject({ isError: false });
    await two.open("/show-storage");
    expect(await two.content()).toContain('["local value","session value","crumb=1"]');
    expect(JSON.parse((await two.run("GetStorage")).text)).toEqual(storage_state);
  });

  test.each([
    [{ cookies: "none" }],
    [{ cookies: [{ name: "a" }] }],
    [{ cookies: [{ name: "a", value: "b" }] }],
    [{ cookies: [7] }],
    [{ origins: [{ origin: "nowhere" }] }],
    [{ origins: {} }],
    [{ origins: [{ origin: "https://example.com", localStorage: 7 }] }],
  ])("tools 20.7.8: %j is refused", async (storage_state) => {
    const surfer = await surf();
    expect(await surfer.run("SetStorage", { storage_state })).toMatchObject({
      isError: true,
      text: expect.stringContaining("storage_state"),
    });
  });
});

describe("recordings", () => {
  test("tools 20.7.9: starting twice and stopping without a recording are errors; a new recording can follow", async () => {
    const surfer = await surf("/second");
    expect(await surfer.run("StopRecording")).toMatchObject({ isError: true });
    expect(await surfer.run("StartRecording")).toMatchObject({ isError: false });
    expect(await surfer.run("StartRecording")).toMatchObject({ isError: true });
    expect(await surfer.run("StopRecording")).toMatchObject({ isError: false });
    expect(await surfer.run("StartRecording")).toMatchObject({ isError: false });
    expect(await surfer.run("StopRecording")).toMatchObject({ isError: false });
  });

  test("one that is running when the conversation ends is complete on the disk, and contains no secret", async () => {
    const surfer = await surf("/masked");
    const secrets = [{ name: "TOKEN", value: "s3cret-value" }];
    await surfer.run("StartRecording", {}, secrets);
    const [field] = (await surfer.state()).interactive_elements;
    await surfer.run("Type", { index: field!.index, text: "$TOKEN" }, secrets);
    await surfer[Symbol.asyncDispose]();
    const folder = join(surfer.stateDir, "observations");
    const [name] = (await readdir(folder)).filter((file) => file.startsWith("recording-"));
    const text = await readFile(join(folder, name!), "utf8");
    expect((JSON.parse(text) as unknown[]).length).toBeGreaterThan(2);
    expect(text).not.toContain("s3cret-value");
  });
});

describe("secrets", () => {
  const secrets = [{ name: "PASSWORD", value: "correct horse" }];

  test("P13: a login with a secret works, and nobody reads it", async () => {
    const surfer = await surf("/login");
    const answer = [
      await surfer.run("Type", { index: await surfer.indexOf("User"), text: "ada" }, secrets),
      await surfer.run("Type", { index: await surfer.indexOf("Pass"), text: "${PASSWORD}" }, secrets),
      await surfer.run("GetState", {}, secrets),
      await surfer.run("GetContent", {}, secrets),
    ];
    expect(JSON.stringify(answer)).not.toContain("correct horse");
    expect(JSON.stringify(answer)).toContain("<secret-hidden>");
    await surfer.run("Click", { index: await surfer.indexOf("Log in") }, secrets);
    expect(await surfer.content()).toContain("Your account");
  });

  test("P13: a screenshot shows no secret, and scripts of the page cannot observe the search for it", async () => {
    const surfer = await surf("/masked");
    const [field] = (await surfer.state()).interactive_elements;
    await surfer.run("Type", { index: field!.index, text: "correct horse" });
    const screenshot = async (known: typeof secrets): Promise<string | null | undefined> =>
      (await surfer.run("GetState", { include_screenshot: true }, known)).observation.screenshot_data;
    // A screenshot taken at once may show the previous state.
    let open = await screenshot([]);
    const isTheSame = async (): Promise<boolean> => open === (open = await screenshot([]));
    await expect.poll(isTheSame).toBe(true);
    expect(await screenshot(secrets)).not.toBe(open);
    await expect.poll(() => screenshot([])).toBe(open);
  });

  test("P13: a screenshot shows no secret in frames of other origins and in closed shadow roots", async () => {
    const open = await openLocalPlace();
    onTestFinished(() => open[Symbol.asyncDispose]());
    const surfer = await createBrowserBench(open).surf();
    for (const path of ["/framed-echo", "/closed-echo"]) {
      await surfer.open(path);
      const [field] = (await surfer.state()).interactive_elements;
      if (field !== undefined) await surfer.run("Type", { index: field.index, text: "correct horse" });
      const screenshot = async (known: typeof secrets): Promise<string | null | undefined> =>
        (await surfer.run("GetState", { include_screenshot: true }, known)).observation.screenshot_data;
      // A frame in another process is drawn later, so a screenshot taken at once may show the previous state.
      const shown = await screenshot([{ name: "OTHER", value: "not on this page" }]);
      await expect.poll(() => screenshot([]), { message: path }).toBe(shown);
      expect(await screenshot(secrets), path).not.toBe(shown);
      await expect.poll(() => screenshot([]), { message: path }).toBe(shown);
    }
  });

  test("a name that is no secret is text", async () => {
    const surfer = await surf("/fields");
    await surfer.run("Type", { index: await surfer.indexOf("Your name"), text: "$HOME costs $5" }, secrets);
    expect((await surfer.state()).interactive_elements[0]).toMatchObject({ value: "$HOME costs $5" });
  });
});
