import { useMoreWords } from "../words/words.ts";
import { LoginForm } from "./login-form.tsx";

/** Shown without a login. */
export default function LoginPage({ hasFailed }: { readonly hasFailed: boolean }) {
  const words = useMoreWords().login;
  return (
    <main className="flex h-dvh items-center justify-center px-4">
      <div className="w-full max-w-80">
        <h1 className="mb-1 text-xl font-semibold">{words.title}</h1>
        <p className="mb-4 text-sm text-soft">{words.explanation}</p>
        <LoginForm problem={hasFailed ? words.linkUsed : null} />
      </div>
    </main>
  );
}
