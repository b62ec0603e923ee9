/** A program that people use in a working folder, and how it is tried behind a wall. */
export type Program = {
  readonly name: string;
  /** For the table. */
  readonly shown: string;
  /** Succeeds where the program is installed. */
  readonly needs: string;
  /** Succeeds when the program works. */
  readonly command: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly note?: string;
  /** The note says why. */
  readonly isKnownToFail?: boolean;
};

const npmUrl = "https://registry.npmjs.org/is-number/latest";

const javaSource = `
import java.net.URI;
import java.net.http.*;
public class Get {
  public static void main(String[] arguments) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("${npmUrl}")).build();
    int status = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
    var old = (java.net.HttpURLConnection) new java.net.URL("${npmUrl}").openConnection();
    if (status != 200 || old.getResponseCode() != 200) System.exit(1);
  }
}
`;

const goSource = `package main

import (
  "fmt"
  "rsc.io/quote"
)

func main() { fmt.Println(quote.Hello()) }
`;

export const programs: readonly Program[] = [
  { name: "curl", shown: "a GET", needs: "curl --version", command: `curl -sSf -o /dev/null ${npmUrl}` },
  {
    name: "git",
    shown: "`git ls-remote` over HTTPS",
    needs: "git --version",
    command: "git ls-remote https://github.com/git/git-scm.com HEAD",
    note: "over ssh there is no key and no way out",
  },
  {
    name: "npm",
    shown: "`npm install` with its audit",
    needs: "npm --version",
    command: "npm install --audit is-number && node -e 'require(\"is-number\")'",
    files: { "package.json": "{}" },
  },
  {
    name: "pip",
    shown: "`pip install` in a new environment",
    needs: "python3 -m venv --help",
    command:
      "python3 -m venv .venv && .venv/bin/pip install --no-cache-dir idna && .venv/bin/python -c 'import idna'",
  },
  {
    name: "Python",
    shown: "a GET with urllib and with requests",
    needs: "python3 -m venv --help",
    command: `python3 -m venv .venv && .venv/bin/pip install -q requests && .venv/bin/python -c 'import requests, urllib.request as u; u.urlopen("${npmUrl}"); requests.get("${npmUrl}").raise_for_status()'`,
  },
  {
    name: "cargo",
    shown: "`cargo add` and build",
    needs: "cargo --version",
    command: "cargo init -q --name inside . && cargo add -q itoa && cargo build -q",
    note: "HTTP/2",
  },
  {
    name: "go",
    shown: "`go get` and run",
    needs: "go version",
    command: "go mod init inside && go get rsc.io/quote@v1.5.2 && go run .",
    files: { "main.go": goSource },
    note: "HTTP/2",
  },
  {
    name: "Java",
    shown: "a GET with each of its two clients",
    needs: "java --version",
    command: "java Get.java",
    files: { "Get.java": javaSource },
    note: "no variable: its trust store and its settings of connections are covered",
  },
  {
    name: "Node 24",
    shown: "`fetch`",
    needs: "/run/convoke-program/bin/node --version",
    command: `/run/convoke-program/bin/node -e 'fetch("${npmUrl}").then((answer) => process.exit(answer.ok ? 0 : 1))'`,
  },
  {
    name: "Node 20",
    shown: "`fetch`",
    needs: "node -e 'if (Number(process.versions.node.split(\".\")[0]) >= 22) process.exit(1)'",
    command: `node -e 'fetch("${npmUrl}").then((answer) => process.exit(answer.ok ? 0 : 1))'`,
    note: "`fetch` and `https` of versions before 22.21 know no proxy; npm, yarn and pnpm have their own",
    isKnownToFail: true,
  },
  {
    name: "Chromium",
    shown: "a page without a window",
    needs: "command -v chromium",
    command: `chromium --headless --no-sandbox --disable-gpu --user-data-dir=.profile --proxy-server="$https_proxy" --ignore-certificate-errors-spki-list="$CONVOKE_TRUSTED_KEY" --dump-dom ${npmUrl} | grep is-number`,
    note: "with switches for proxy and certificate, as the agent's browser has them",
  },
  {
    name: "gh",
    shown: "`gh api`",
    needs: "gh --version",
    command: "gh api /meta",
    note: "needs a token that is bound to its host",
  },
];
