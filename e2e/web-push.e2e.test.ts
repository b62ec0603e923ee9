import { TestPushService } from "@convoke/server/testing";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, finish, sidewaysOf, terminal, violationsOf } from "./web-page.ts";

/** The parts of the worker API used here, which the types of pages lack. */
type WorkerScope = {
  readonly clients: { readonly matchAll: (about: object) => Promise<readonly SeenClient[]> };
  readonly registration: ServiceWorkerRegistration;
  readonly dispatchEvent: (event: Event) => boolean;
  readonly NotificationEvent: new (name: string, values: { readonly notification: Notification }) => Event;
  readonly PushEvent: new (name: string, values: { readonly data: string }) => Event;
};
type SeenClient = { readonly url: string; readonly visibilityState: string };
type Shown = { readonly title: string; readonly tag: string };

describe.skipIf(noBrowser !== null)("S21: a browser that gets notifications while no tab is open", () => {
  let web: WebBrowser;
  let service: TestPushService;

  beforeAll(async () => {
    service = await TestPushService.start();
    web = await WebBrowser.open(
      [
        ...about("ask", { tool_calls: [terminal("true", "look around")] }, finish("Looked.")),
        ...about("say", { text: "Said." }),
      ],
      async (place) => {
        place.environment["CONVOKE_WEB_PUSH"] = "on";
        place.environment["CONVOKE_WEB_PUSH_SERVICES"] = service.origin;
      },
      "whole",
    );
    service.publicKey = String((await web.call("GET", "/api/push"))["public_key"]);
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  /** Debian's browsers have no push service: this one uses an address of ours, and is otherwise the browser's own. */
  async function logIn(name: string, options?: typeof phone): Promise<Page> {
    const page = await web.logIn(options);
    const target = service.subscribe(name);
    await page.context().grantPermissions(["notifications"], { origin: web.url });
    await page.context().addInitScript((given) => {
      const storageKey = "test.subscribed";
      const bytes = (text: string): ArrayBuffer =>
        Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) =>
          letter.charCodeAt(0),
        ).buffer;
      const subscription = () => ({
        options: { applicationServerKey: bytes(localStorage.getItem(storageKey) ?? "") },
        toJSON: () => given,
        unsubscribe: async () => {
          localStorage.removeItem(storageKey);
          return true;
        },
      });
      Object.assign(PushManager.prototype, {
        getSubscription: async () => (localStorage.getItem(storageKey) === null ? null : subscription()),
        subscribe: async ({ applicationServerKey }: { applicationServerKey: string }) => {
          localStorage.setItem(storageKey, applicationServerKey);
          return subscription();
        },
      });
    }, target);
    await page.goto(`${web.url}/settings/notifications`);
    return page;
  }

  const toggle = (page: Page) => page.getByRole("checkbox", { name: "Notify this browser" });

  /** Hands a push message to the worker and waits for its work; a message through the debugger can be dropped without an error. */
  const deliverTo = async (context: BrowserContext, data: string): Promise<void> => {
    const [worker] = context.serviceWorkers();
    await worker!.evaluate(async (given) => {
      const { dispatchEvent, PushEvent } = globalThis as unknown as WorkerScope;
      const works: Promise<unknown>[] = [];
      const event = new PushEvent("push", { data: given });
      dispatchEvent(Object.assign(event, { waitUntil: (work: Promise<unknown>) => void works.push(work) }));
      await Promise.all(works);
    }, data);
  };

  const shownIn = async (context: BrowserContext): Promise<Shown[]> => {
    const [worker] = context.serviceWorkers();
    return await worker!.evaluate(async () => {
      const { registration } = globalThis as unknown as WorkerScope;
      return (await registration.getNotifications()).map(({ title, tag }) => ({ title, tag }));
    });
  };

  /** Number of visible tabs according to the worker: a left tab counts until the browser has reported it. */
  const seenIn = async (context: BrowserContext): Promise<number> => {
    const [worker] = context.serviceWorkers();
    return await worker!.evaluate(async (origin) => {
      const { clients } = globalThis as unknown as WorkerScope;
      const all = await clients.matchAll({ type: "window", includeUncontrolled: true });
      return all.filter(({ url, visibilityState }) => visibilityState === "visible" && url.startsWith(origin))
        .length;
    }, web.url);
  };

  test("a browser without a tab is notified of pending actions and finished runs, and a click opens the conversation", async () => {
    const page = await logIn("desk");
    const context = page.context();
    // The worker is left without a tab of ours, and the browser keeps one.
    await context.newPage();
    await toggle(page).check();
    await expect
      .poll(async () => (await web.call("GET", "/api/push/subscriptions"))["subscriptions"])
      .toHaveLength(1);
    // Without a selection all kinds are sent.
    expect(await page.getByRole("checkbox", { name: "An agent failed" }).isChecked()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);

    const id = await web.converse("ask", { confirmation_policy: { kind: "AlwaysConfirm" } });
    await expect
      .poll(() => service.pushed.map(({ news }) => news))
      .toEqual([{ conversation_id: id, kind: "asks" }]);
    const deliver = async (): Promise<void> =>
      await deliverTo(context, JSON.stringify(service.pushed.at(-1)!.news));
    // A visible tab shows it itself.
    await deliver();
    expect(await shownIn(context)).toEqual([]);
    await page.goto("about:blank");
    await expect.poll(() => seenIn(context)).toBe(0);
    await deliver();
    expect(await shownIn(context)).toEqual([{ title: "An agent needs approval", tag: id }]);

    // The click comes while the page still loads its last parts.
    const click = Promise.withResolvers<void>();
    await page.route("**/notifier-*.js", async (route) => {
      await click.promise;
      await route.continue();
    });
    await page.goto(`${web.url}/settings/notifications`, { waitUntil: "domcontentloaded" });
    const [worker] = context.serviceWorkers();
    await worker!.evaluate(async () => {
      const { registration, dispatchEvent, NotificationEvent } = globalThis as unknown as WorkerScope;
      const [notification] = await registration.getNotifications();
      dispatchEvent(new NotificationEvent("notificationclick", { notification: notification! }));
    });
    click.resolve();
    await page.waitForURL(`${web.url}/c/${id}`);
    await expect.poll(() => shownIn(context)).toEqual([]);
    await context.close();
  });

  test("the subscription is renewed when the page opens, in the chosen language, until it is cancelled", async () => {
    const page = await logIn("phone", phone);
    await page.getByRole("checkbox", { name: "An agent is done" }).check();
    await toggle(page).check();
    const mine = async (): Promise<{ kinds: string[] }[]> => {
      const { subscriptions } = await web.call("GET", "/api/push/subscriptions");
      return (subscriptions as { kinds: string[] }[]).slice(1);
    };
    await expect.poll(mine).toMatchObject([{ kinds: ["done"] }]);
    await page.getByRole("checkbox", { name: "An agent failed" }).check();
    await expect.poll(mine).toMatchObject([{ kinds: ["done", "failed"] }]);
    expect(await sidewaysOf(page)).toBe(0);

    const words = () =>
      page.evaluate(async () => {
        const storageKey = await caches.match(new URL("push-words", document.baseURI));
        return ((await storageKey?.json()) as { done: string } | undefined)?.done;
      });
    expect(await words()).toBe("An agent is done");
    await page.evaluate(() => localStorage.setItem("convoke.look", JSON.stringify({ language: "de" })));
    await page.goto(web.url);
    await expect.poll(words).toBe("Ein Agent ist fertig");

    await page.goto(`${web.url}/settings/notifications`);
    await page.getByRole("checkbox", { name: "Diesen Browser benachrichtigen" }).uncheck();
    await expect.poll(mine).toEqual([]);
    expect(await words()).toBeUndefined();
    expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(
      0,
    );
    await page.context().close();
  });
});
