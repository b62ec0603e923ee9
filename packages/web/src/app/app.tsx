import { Suspense, useEffect } from "react";
import { useStore } from "../lib/store.ts";
import { useServices } from "../services/services.ts";
import { attentionOf } from "../overview/summary.ts";
import { Shell } from "./shell.tsx";
import { lazyPart } from "../lib/lazy-part.ts";

const LoginPage = lazyPart(() => import("../login/login-page.tsx"));

type AppProps = {
  /** Why the login that the address led to did not succeed. */
  readonly loginProblem?: string | null;
};

/** The page: the login form, or the application. */
export function App({ loginProblem }: AppProps) {
  const { login, overview, logs, outbox } = useServices();
  const status = useStore(login.status);
  const isIn = status === "in" || status === "unknown";
  useEffect(() => {
    if (!isIn) {
      logs.rest();
      return;
    }
    const stop = new AbortController();
    overview.start(stop.signal);
    void outbox.flush();
    // What stopped when the login ended resumes with the next one.
    logs.wake();
    const wake = (): void => {
      if (document.visibilityState !== "visible") return;
      logs.wake();
      overview.wake();
      void outbox.flush();
    };
    const { signal } = stop;
    document.addEventListener("visibilitychange", wake, { signal });
    for (const name of ["online", "pageshow", "focus"]) addEventListener(name, wake, { signal });
    return () => stop.abort();
  }, [isIn, overview, logs, outbox]);
  useApprovals();
  const isLoading = useStore(overview).phase === "loading";
  // Render nothing before the first response, which says whether a login is needed.
  const isHidden = status === "unknown" && login.proof === null && isLoading;
  if (status !== "out") {
    return (
      <div className={isHidden ? "invisible" : undefined}>
        <Shell />
      </div>
    );
  }
  return (
    <Suspense>
      <LoginPage problem={loginProblem} />
    </Suspense>
  );
}

/** Fetches the approvals again whenever the list shows that one was added or removed. */
function useApprovals(): void {
  const { overview, approvals } = useServices();
  const { summaries } = useStore(overview);
  const asking = summaries
    .filter((summary) => attentionOf(summary) === "asks")
    .map(({ id, updatedAt }) => `${id} ${updatedAt}`)
    .join();
  const isAny = asking !== "" || approvals.snapshot().length > 0;
  useEffect(() => {
    if (isAny) void approvals.refresh();
  }, [approvals, asking, isAny]);
}
