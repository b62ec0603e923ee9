import { Suspense, useMemo } from "react";
import { Router, useLocation, useSearch } from "wouter";
import { besideIn, conversationIn, withBeside } from "../lib/beside.ts";
import { lazyPart } from "../lib/lazy-part.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { ConversationPage } from "./conversation-page.tsx";
import { PaneContext, type Pane } from "./pane.ts";

const BesidePanes = lazyPart(() => import("./beside-panes.tsx"));

/** The conversation of the URL and its side panes. */
export function Panes({ id }: { readonly id: string }) {
  const [, navigate] = useLocation();
  const search = useSearch();
  const beside = besideIn(search, id);
  const pane = useMemo<Pane | null>(() => {
    const [first, ...others] = besideIn(search, id);
    return first === undefined ? null : { close: () => navigate(withBeside(`/c/${first}`, others)) };
  }, [id, navigate, search]);
  return (
    <div className="flex h-full" data-split={beside.length > 0 || undefined}>
      <div className="min-w-0 grow basis-0" data-pane="">
        <Router aroundNav={stayBeside}>
          <PaneContext value={pane}>
            <ErrorBoundary versions={[id]}>
              <ConversationPage key={id} id={id} />
            </ErrorBoundary>
          </PaneContext>
        </Router>
      </div>
      <Suspense>{beside.length > 0 && <BesidePanes Page={ConversationPage} />}</Suspense>
    </div>
  );
}

/** Navigation in the first pane keeps the side panes. */
const stayBeside: AroundNav = (navigate, to, options) => {
  const shown = conversationIn(to);
  navigate(shown === null ? to : withBeside(to, besideIn(location.search, shown)), options);
};

type AroundNav = NonNullable<Parameters<typeof Router>[0]["aroundNav"]>;
