import { PanelLeft } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import { Route, Switch, useLocation } from "wouter";
import { Panes } from "../conversation/panes.tsx";
import { useStore } from "../lib/store.ts";
import { useServices } from "../services/services.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { IconButton } from "../ui/button.tsx";
import { useWords } from "../words/words.ts";
import { useTitle } from "./use-title.ts";
import { lazyPart } from "../lib/lazy-part.ts";

const appFrame = () => import("./app-frame.ts");
const Rail = lazyPart(async () => ({ default: (await appFrame()).Rail }));
const Tabs = lazyPart(async () => ({ default: (await appFrame()).Tabs }));
const Announcer = lazyPart(async () => ({ default: (await appFrame()).Announcer }));
const KeyMap = lazyPart(async () => ({ default: (await appFrame()).KeyMap }));
const Upkeep = lazyPart(async () => ({ default: (await appFrame()).Upkeep }));
const Notifier = lazyPart(async () => ({ default: (await appFrame()).Notifier }));
const HomePage = lazyPart(() => import("../home/home-page.tsx"));
const MoreScreens = lazyPart(() => import("./more-screens.tsx"));
const InboxPage = lazyPart(() => import("../approvals/inbox-page.tsx"));
const SettingsPage = lazyPart(() => import("../settings/settings-page.tsx"));

/** The layout of every screen: a sidebar, or three tabs at the bottom on phones. */
export function Shell() {
  const words = useWords();
  const { approvals, storage } = useServices();
  const waiting = useStore(approvals).length;
  const [hasRail, setHasRail] = useState(() => storage.read("rail") !== false);
  const [location] = useLocation();
  useTitle(waiting);
  useEffect(() => void storage.write("rail", hasRail), [storage, hasRail]);
  return (
    <div className="flex h-dvh">
      <a
        href="#main"
        className="fixed top-1 left-1 z-10 -translate-y-20 rounded bg-accent-fill px-3 py-1 text-on-accent focus:translate-y-0"
      >
        {words.rail.skip}
      </a>
      {hasRail ? (
        <Suspense
          fallback={<div className="w-64 shrink-0 border-r border-line bg-rail max-[720px]:hidden" />}
        >
          <ErrorBoundary versions={[location]}>
            <Rail waiting={waiting} onHide={() => setHasRail(false)} />
          </ErrorBoundary>
        </Suspense>
      ) : (
        <div className="border-r border-line bg-rail p-1.5 max-[720px]:hidden">
          <IconButton label={words.rail.show} onClick={() => setHasRail(true)}>
            <PanelLeft size={16} />
          </IconButton>
        </div>
      )}
      <div className="flex min-w-0 grow flex-col">
        <ErrorBoundary versions={[location]}>
          <Suspense>
            <Upkeep />
          </Suspense>
        </ErrorBoundary>
        <main id="main" tabIndex={-1} className="min-h-0 grow outline-none">
          <ErrorBoundary versions={[location]}>
            <Suspense>
              <Switch>
                <Route path="/c/:id">{({ id }) => <Panes id={id} />}</Route>
                <Route path="/inbox">
                  <InboxPage />
                </Route>
                <Route path="/settings/:section?">
                  {({ section }) => <SettingsPage section={section ?? "models"} />}
                </Route>
                <Route path="/:screen/:of?">
                  {({ screen, of }) => <MoreScreens screen={screen} of={of} />}
                </Route>
                <Route>
                  <HomePage />
                </Route>
              </Switch>
            </Suspense>
          </ErrorBoundary>
        </main>
        <ErrorBoundary versions={[location]}>
          <Suspense>
            <Tabs waiting={waiting} />
          </Suspense>
        </ErrorBoundary>
      </div>
      <ErrorBoundary versions={[location]} fallback={null}>
        <Suspense>
          <Announcer />
          <KeyMap />
          <Notifier />
        </Suspense>
      </ErrorBoundary>
    </div>
  );
}
