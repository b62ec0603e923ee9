import { Suspense, useEffect, useRef, useState } from "react";
import { BrowserStorage } from "../lib/browser-storage.ts";
import { useStore } from "../lib/store.ts";
import { LoginAgain } from "../login/login-again.tsx";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useWords } from "../words/words.ts";
import { PageVersion, readPage } from "./page-version.ts";
import { mayReload } from "./may-reload.ts";

/**
 * For long-lived pages: a notice if a newer version is available, and a login form when the login ends. Loaded with
 * the first screen and its words, because files of this version may be gone later.
 */
export default function Upkeep() {
  const words = useWords().upkeep;
  const { login } = useServices();
  const isLapsed = useStore(login.status) === "lapsed";
  const isOld = useOldPage();
  return (
    <>
      {isOld && (
        <div
          role="status"
          className="flex flex-wrap items-center justify-center gap-x-3 border-b border-line bg-rail px-3 py-1 text-sm text-soft"
        >
          {words.newer}
          <Button variant="quiet" onClick={() => location.reload()}>
            {words.reload}
          </Button>
        </div>
      )}
      {isLapsed && (
        <Suspense>
          <LoginAgain />
        </Suspense>
      )}
    </>
  );
}

/** Checks when it is mounted, after each reconnect, and when a chunk could not be loaded. */
function useOldPage(): boolean {
  const { overview } = useServices();
  const [version] = useState(
    () =>
      new PageVersion(
        document.querySelector('script[type="module"]')?.getAttribute("src") ?? "",
        async () => await readPage(document.baseURI),
      ),
  );
  const isOld = useStore(version.isOld);
  const hasBeenUsed = useRef(false);
  useEffect(() => {
    const stop = new AbortController();
    const check = (): void => void version.check();
    // The bundler's event for a chunk that failed to load.
    addEventListener("vite:preloadError", check, { signal: stop.signal });
    const use = (): void => void (hasBeenUsed.current = true);
    for (const name of ["pointerdown", "keydown", "input"])
      addEventListener(name, use, { capture: true, signal: stop.signal });
    const end = overview.connections.subscribe(check);
    // This file comes behind the first screen: the server may have been restarted since.
    check();
    return () => {
      stop.abort();
      end();
    };
  }, [version, overview]);
  useEffect(() => {
    if (!isOld) return;
    const storage = new BrowserStorage(sessionStorage);
    const texts = [...document.querySelectorAll("textarea")].map(({ value }) => value);
    if (
      !mayReload({
        hasBeenUsed: hasBeenUsed.current,
        texts,
        lastAtMs: storage.read("reloaded"),
        nowMs: Date.now(),
      })
    )
      return;
    storage.write("reloaded", Date.now());
    location.reload();
  }, [isOld]);
  return isOld;
}
