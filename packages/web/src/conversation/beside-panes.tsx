import { Suspense, useMemo, useSyncExternalStore, type ComponentType, type ReactNode } from "react";
import { Router, useLocation, useRouter, useSearch } from "wouter";
import { navigate as navigateBrowser, useSearch as useBrowserSearch } from "wouter/use-browser-location";
import { besideIn, conversationIn, idOf, roomIn, withBeside } from "../lib/beside.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { PaneContext, type Pane } from "./pane.ts";

type BesidePanesProps = {
  /** The component of the first pane, passed in so that this chunk does not include it. */
  readonly Page: ComponentType<{ readonly id: string }>;
};

/** The side panes, as many as fit; each has its own location. */
export default function BesidePanes({ Page }: BesidePanesProps) {
  const room = useRoom();
  const [location] = useLocation();
  const beside = besideIn(useSearch(), conversationIn(location));
  return beside.slice(0, room - 1).map((address, index) => {
    const id = idOf(address);
    return (
      <div key={id} data-pane="" className="min-w-0 grow basis-0 border-l border-line">
        <BesidePane index={index}>
          <ErrorBoundary versions={[id]}>
            <Suspense>
              <Page id={id} />
            </Suspense>
          </ErrorBoundary>
        </BesidePane>
      </div>
    );
  });
}

type BesidePaneProps = { readonly index: number; readonly children: ReactNode };

/** A subtree with its own location. */
function BesidePane({ index, children }: BesidePaneProps) {
  const { base } = useRouter();
  const place = useMemo(() => placeOf(index, base), [index, base]);
  return (
    <Router base={base} hook={place.useLocation} searchHook={place.useSearch}>
      <PaneContext value={place.pane}>{children}</PaneContext>
    </Router>
  );
}

type Hook = NonNullable<Parameters<typeof Router>[0]["hook"]>;

function placeOf(index: number, base: string) {
  const besideNow = (search: string): readonly string[] =>
    besideIn(search, conversationIn(location.pathname));
  const put = (address: string | null, options?: object): void => {
    const beside = [...besideNow(location.search)];
    if (address === null) beside.splice(index, 1);
    else beside[index] = address;
    navigateBrowser(withBeside(`${location.pathname}${location.search}`, beside), options);
  };
  const useAddress = (): string => besideNow(useBrowserSearch())[index] ?? "";
  const go = (to: string, options?: object): void => {
    const id = conversationIn(to);
    if (id === null) navigateBrowser(to, options);
    else put(`${id}${to.includes("?") ? to.slice(to.indexOf("?")) : ""}`, options);
  };
  const pane: Pane = { close: () => put(null) };
  return {
    pane,
    useLocation: (() => [`${base}/c/${idOf(useAddress())}`, go]) as Hook,
    useSearch: () => useAddress().split("?")[1] ?? "",
  };
}

function useRoom(): number {
  return useSyncExternalStore(
    (onChange) => {
      addEventListener("resize", onChange);
      return () => removeEventListener("resize", onChange);
    },
    () => roomIn(innerWidth),
  );
}
