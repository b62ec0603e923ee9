import { useEffect, useId, useLayoutEffect, useRef } from "react";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { LoginForm } from "./login-form.tsx";

/** A login dialog over a page whose login ended: drafts and focus stay. A login in another tab closes it. */
export function LoginAgain() {
  const words = useMoreWords().login;
  const { login } = useServices();
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    const writer = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      // An element that is focused again before the dialog closes accepts no text.
      requestAnimationFrame(() => {
        if (!(writer instanceof HTMLElement)) return;
        writer.blur();
        writer.focus();
      });
    };
  }, []);
  useEffect(() => {
    const stop = new AbortController();
    const onStorage = ({ key, newValue }: StorageEvent): void => {
      const isLogin = key?.endsWith(".proof") === true && newValue !== null;
      if (isLogin && !login.adoptLogin()) location.reload();
    };
    addEventListener("storage", onStorage, { signal: stop.signal });
    return () => stop.abort();
  }, [login]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onCancel={(event) => event.preventDefault()}
      // Browsers close a dialog at the second Escape in any case.
      onClose={() => {
        if (dialog.current?.open === false) dialog.current.showModal();
      }}
      className="m-auto w-80 max-w-[calc(100vw-1.5rem)] rounded-lg border border-line bg-canvas p-4 text-ink shadow-xl backdrop:backdrop-blur-xs"
    >
      <h2 id={titleId} className="mb-1 text-lg font-semibold">
        {words.again}
      </h2>
      <p className="mb-4 text-sm text-soft">{words.draftsStored}</p>
      <LoginForm />
    </dialog>
  );
}
