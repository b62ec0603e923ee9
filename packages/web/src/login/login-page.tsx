import { useMoreWords } from "../words/words.ts";
import { LoginForm } from "./login-form.tsx";

type LoginPageProps = {
  /** `linkUsed`, or the code of a refusal by the identity provider's login. */
  readonly problem: string | null | undefined;
};

/** Shown without a login. */
export default function LoginPage({ problem = null }: LoginPageProps) {
  const words = useMoreWords().login;
  const refusals: Readonly<Record<string, string>> = words.refusals;
  // Anybody can make a link with another code.
  const isRefusal = problem !== null && Object.hasOwn(refusals, problem);
  const sentence = isRefusal ? refusals[problem] : problem === null ? null : words.linkUsed;
  return (
    <main className="flex h-dvh items-center justify-center px-4">
      <div className="w-full max-w-80">
        <h1 className="mb-1 text-xl font-semibold">{words.title}</h1>
        <p className="mb-4 text-sm text-soft">{words.explanation}</p>
        <LoginForm problem={sentence ?? null} />
      </div>
    </main>
  );
}
