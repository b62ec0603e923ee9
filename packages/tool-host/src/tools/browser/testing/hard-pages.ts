import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type PageAddresses = {
  /** `http://127.0.0.1:...`, without a trailing slash. */
  readonly url: string;
  /** The same pages on another origin. */
  readonly otherUrl: string;
};

type HardPages = AsyncDisposable &
  PageAddresses & {
    /** Requests as `METHOD path`, followed by the cookie if there was one. */
    readonly requests: readonly string[];
  };

const pdf = "%PDF-1.4\n%%EOF\n";
const pdfHeaders = { "content-type": "application/pdf", "cache-control": "no-store" };

const html = (title: string, body: string): string => `<!doctype html><title>${title}</title>${body}`;

const links = Array.from(
  { length: 10_000 },
  (_, index) => `<a href="/link/${index}">link ${index}</a> `,
).join("");
const buttons = Array.from({ length: 5_000 }, (_, index) => `<button>button ${index}</button>`).join("\n");
const paragraphs = Array.from(
  { length: 2_000 },
  (_, index) => `<p>Paragraph ${index}. It says little.</p>`,
).join("");

/** Deliberately difficult pages; each path is a case. */
const pages: Readonly<Record<string, string>> = {
  "/": html(
    "Home",
    `<h1>Welcome</h1><a href="/second">Second page</a> <a href="/second" target="_blank">Popup</a>`,
  ),
  "/second": html("Second", "<h1>The second page</h1>"),
  "/fields": html(
    "Fields",
    `<input id="text" placeholder="Your name" value="old text"><input type="email" aria-label="Mail">
     <label>Day <input type="date" id="date"></label><label>Time <input type="time"></label>
     <label>Colour <input type="color"></label><label>Volume <input type="range" min="0" max="10"></label>
     <textarea aria-label="Story">before</textarea><input type="password" aria-label="Password" value="hunter2">
     <select aria-label="Size"><option value="s">Small</option><option value="l">Large</option><option disabled>Huge</option></select>
     <div contenteditable="true" aria-label="Rich">rich <b>text</b></div>
     <label><input type="checkbox"> Agree</label><input type="radio" name="r" aria-label="One">
     <input disabled aria-label="Locked"><input readonly aria-label="Fixed" value="same">
     <pre id="log"></pre><script>for (const name of ["keydown", "input", "change"]) addEventListener(name, (event) => log.textContent += name + ":" + (event.target.value ?? event.target.textContent) + " ")</script>`,
  ),
  "/spa": html(
    "Spa",
    `<div id="root"></div><script>
      const draw = () => { root.innerHTML = location.pathname === "/spa/next" ? "<h1>Next view</h1>" : '<button id="go">Go on</button>';
        document.getElementById("go")?.addEventListener("click", () => { history.pushState({}, "", "/spa/next"); draw(); }); };
      addEventListener("popstate", draw); setTimeout(draw, 100);</script>`,
  ),
  "/endless": html(
    "Endless",
    `<div id="list"></div><script>let count = 0;
      const more = () => { for (let i = 0; i < 20; i++) { const p = document.createElement("p"); p.textContent = "Item " + count++; p.style.height = "60px"; list.append(p); } };
      more(); addEventListener("scroll", () => { if (scrollY + innerHeight > document.body.scrollHeight - 200) more(); });</script>`,
  ),
  "/shadow": html(
    "Shadow",
    `<open-box></open-box><closed-box></closed-box><pre id="log"></pre><script>
      for (const mode of ["open", "closed"]) customElements.define(mode + "-box", class extends HTMLElement {
        connectedCallback() { this.attachShadow({ mode }).innerHTML = "<p>Text in " + mode + "</p><button>Press " + mode + "</button><input placeholder='Field " + mode + "'>";
          } });
      addEventListener("click", (event) => log.textContent += "clicked ", true);</script>`,
  ),
  "/frame": html(
    "Frame",
    `<h1>In the frame</h1><button onclick="document.title='pressed'; this.textContent='Pressed'">Press me</button><input placeholder="Framed">`,
  ),
  "/canvas": html(
    "Canvas",
    `<canvas id="c" width="300" height="200" tabindex="0" aria-label="Board"></canvas><pre id="log"></pre>
     <script>c.onclick = (event) => log.textContent = "hit " + event.offsetX + " " + event.offsetY; c.onkeydown = (event) => log.textContent += event.key;</script>`,
  ),
  "/dialogs": html(
    "Dialogs",
    `<button onclick="alert('Mind the gap'); this.textContent='alerted'">Alert</button>
     <button onclick="this.textContent=String(confirm('Sure?'))">Confirm</button>
     <button onclick="this.textContent=String(prompt('Who?'))">Prompt</button>
     <button onclick="addEventListener('beforeunload', (e) => { e.preventDefault(); }); this.textContent='armed'">Arm</button>`,
  ),
  "/popups": html(
    "Popups",
    `<button onclick="window.open('/second')">Open</button><a href="/second">Plain</a> <span onclick="document.title='span'">No link</span>
     <button onclick="const w = window.open('/second'); setTimeout(() => w.close(), 50)">Flash</button>`,
  ),
  "/downloads": html(
    "Downloads",
    `<a href="/file.txt">Text</a> <a href="/evil" >Evil name</a> <a href="/broken-file">Broken</a> <a href="/paper.pdf">Paper</a>`,
  ),
  "/upload": html(
    "Upload",
    `<input type="file" multiple aria-label="Files" style="opacity:0"><pre id="log"></pre><script>document.querySelector("input").onchange = async (event) => { log.textContent = (await Promise.all([...event.target.files].map(async (f) => f.name + "=" + await f.text()))).join(","); };</script>`,
  ),
  "/covered": html(
    "Covered",
    `<button style="position:absolute;top:20px;left:20px">Under</button><div id="veil" style="position:fixed;inset:0;background:#fff"><button onclick="veil.remove()">Close the veil</button></div>`,
  ),
  "/glass": html(
    "Glass",
    `<button style="position:absolute;top:20px;left:20px" onclick="document.title='reached'">Under glass</button><div id="glass" style="position:fixed;inset:0"></div>`,
  ),
  "/hidden": html(
    "Hidden",
    `<button hidden>Not here</button><button style="display:none">Nor here</button><button style="visibility:hidden">Invisible</button>
     <button style="width:0;height:0;overflow:hidden;border:0;padding:0"></button><button>Seen</button>
     <p style="display:none">Secret paragraph</p><p>Plain paragraph</p>`,
  ),
  "/clickables": html(
    "Clickables",
    `<div id="listener">Listens</div><div style="cursor:pointer">Hand <span>inside</span></div><div role="button">Role</div><div onclick="1">Attribute</div>
     <div tabindex="0">Tab stop</div><div tabindex="-1">No stop</div><a>Anchor without address</a><details><summary>More</summary>Hidden part</details>
     <div id="card"><button>In the card</button></div><button><span id="inner">Label</span></button>
     <script>for (const id of ["listener", "card", "inner"]) document.getElementById(id).addEventListener("click", () => document.title = id)</script>`,
  ),
  "/vanish": html(
    "Vanish",
    `<button id="a" onclick="b.remove()">Remove</button><button id="b">Going</button><button onclick="document.body.insertAdjacentHTML('afterbegin', '<button>New</button>')">Add</button>`,
  ),
  "/links": html("Links", links),
  "/buttons": html("Buttons", buttons),
  "/long": html("Long", `<main>${paragraphs}</main>`),
  "/article": html(
    "Article",
    `<nav><a href="/a">Menu entry</a></nav><main><h1>Main title</h1><p>First <a href="/second">linked words</a>.</p><ul><li>One</li><li>Two</li></ul>
     <table><tr><th>Name</th><th>Age</th></tr><tr><td>Ada</td><td>36</td></tr></table><pre><code>let x = 1;</code></pre>
     <img alt="A cat" src="/cat.png"><p>100%20 of {"json":true} stays</p></main><footer>Imprint</footer><script>var hidden = "script text";</script>`,
  ),
  "/changing": html(
    "Changing",
    `<p id="p">before</p><button onclick="p.textContent='after'">Change</button>`,
  ),
  "/empty": html("Empty", ""),
  "/storage": html(
    "Storage",
    `<script>localStorage.setItem("kept", "local value"); sessionStorage.setItem("tab", "session value"); document.cookie = "crumb=1; path=/";</script>stored`,
  ),
  "/show-storage": html(
    "Shown",
    `<pre id="out"></pre><script>out.textContent = JSON.stringify([localStorage.getItem("kept"), sessionStorage.getItem("tab"), document.cookie])</script>`,
  ),
  "/slow-script": html(
    "Slow script",
    `<p>Here at once</p><script src="/never.js" async></script><img src="/never.png">`,
  ),
  "/busy": html(
    "Busy",
    `<button onclick="const end = Date.now() + 60000; while (Date.now() < end);">Hang</button><p>text</p>`,
  ),
  "/moving": html(
    "Moving",
    `<style>@keyframes m { to { margin-left: 300px } } button { animation: m .2s linear infinite alternate }</style><button onclick="document.title='caught'">Catch</button>`,
  ),
  "/csp": html("Csp", `<p>Strict</p><button id="b">Press</button>`),
  "/huge": html(
    "Huge",
    `<p>Much</p><script>for (let i = 0; i < 320; i++) { const part = document.createElement("div"); part.style.display = "none"; part.innerHTML = "<b></b>".repeat(1000); document.body.append(part); }</script>`,
  ),
  "/crowded": html(
    "Crowded",
    `<style>i { position: absolute; inset: 40px 0 0 0; background: #fff }</style><button>First</button><div style="padding-top:60px">${buttons.slice(0, 40_000)}</div>${"<i></i>".repeat(3_000)}`,
  ),
  "/shouting": html(
    "Shouting",
    `<p>Quiet so far</p><script>setTimeout(() => console.log("x".repeat(110 * 2 ** 20)), 100)</script>`,
  ),
  "/closed-echo": html(
    "Closed echo",
    `<div id="host"></div><script>host.attachShadow({ mode: "closed" }).innerHTML = "<p>It is correct horse.</p>";</script>`,
  ),
  "/watched": html(
    "Watched",
    `<style>form * { position: absolute; left: 20px; width: 200px; height: 30px; box-sizing: border-box }</style>
     <form action="/second"><input name="name" aria-label="Name" style="top:20px"><input type="password" style="top:70px">
     <button style="top:120px">Go on</button></form><div style="height:3000px"></div>`,
  ),
  "/masked": html(
    "Masked",
    `<style>input { caret-color: transparent }</style><p id="echo">nothing</p><input oninput="echo.textContent = 'You typed ' + this.value">`,
  ),
};

/** Serves pages that are difficult for automated browsers. */
export async function openHardPages(): Promise<HardPages> {
  const requests: string[] = [];
  const own = await listen((request, response) => answer(request, response));
  const other = await listen((request, response) => answer(request, response));
  const url = addressOf(own, "127.0.0.1");
  // Another site, so that its frames have a process of their own.
  const otherUrl = addressOf(other, "localhost");

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? "/").split("?")[0]!;
    const { cookie } = request.headers;
    requests.push(`${request.method} ${request.url}${cookie === undefined ? "" : ` ${cookie}`}`);
    response.setHeader("content-type", "text/html; charset=utf-8");
    const page = pages[path] ?? (path.startsWith("/spa/") ? pages["/spa"] : undefined);
    if (path === "/csp")
      response.setHeader("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'");
    if (page !== undefined) return void response.end(page);
    switch (path) {
      case "/frames":
        return void response.end(
          html(
            "Frames",
            `<h1>Outside</h1><iframe src="/frame" width="400" height="150"></iframe><iframe src="${otherUrl}/frame" width="400" height="150"></iframe><iframe src="/frame" width="0" height="0"></iframe>`,
          ),
        );
      case "/framed-echo":
        return void response.end(
          html("Framed echo", `<iframe src="${otherUrl}/masked" width="400" height="150"></iframe>`),
        );
      case "/turning.pdf": {
        // A PDF on the first request; a redirect on the second.
        const isFirst = requests.filter((line) => line.includes(request.url!)).length === 1;
        if (!isFirst)
          return void response
            .writeHead(302, { location: new URL(request.url!, otherUrl).searchParams.get("to")! })
            .end();
        return void response.writeHead(200, pdfHeaders).end(pdf);
      }
      case "/large.pdf":
        response.writeHead(200, { ...pdfHeaders, "content-length": String(60 * 1024 * 1024) });
        response.write(pdf);
        return void response.end(Buffer.alloc(60 * 1024 * 1024 - pdf.length));
      case "/hang":
      case "/never.js":
      case "/never.png":
        return;
      case "/cut":
        return void request.socket.destroy();
      case "/missing":
        response.statusCode = 404;
        return void response.end(html("Missing", "<h1>Not here</h1>"));
      case "/redirect":
        return void response.writeHead(302, { location: "/second" }).end();
      case "/circle":
        return void response.writeHead(302, { location: "/circle" }).end();
      case "/leave":
        return void response.writeHead(302, { location: `${otherUrl}/second` }).end();
      case "/file.txt":
        return void response
          .writeHead(200, {
            "content-type": "text/plain",
            "content-disposition": 'attachment; filename="file.txt"',
          })
          .end("the content");
      case "/evil":
        return void response
          .writeHead(200, { "content-disposition": 'attachment; filename="../../../evil.sh"' })
          .end("evil");
      case "/broken-file":
        response.writeHead(200, {
          "content-disposition": 'attachment; filename="half.bin"',
          "content-length": "1000",
        });
        response.write("half");
        setTimeout(() => request.socket.destroy(), 50);
        return;
      case "/paper.pdf":
        return void response.writeHead(200, pdfHeaders).end(pdf);
      case "/login":
        if (request.method === "POST") {
          let body = "";
          request.on("data", (chunk) => (body += String(chunk)));
          request.on("end", () => {
            const isRight = new URLSearchParams(body).get("password") === "correct horse";
            const headers = isRight ? { "set-cookie": "session=yes; Path=/; HttpOnly" } : {};
            response.writeHead(302, { ...headers, location: isRight ? "/account" : "/login?wrong" }).end();
          });
          return;
        }
        return void response.end(
          html(
            "Login",
            `<form method="post"><input name="user" aria-label="User"><input name="password" type="text" aria-label="Pass"><button>Log in</button></form>`,
          ),
        );
      case "/account":
        return void response.end(
          html(
            "Account",
            cookie?.includes("session=yes") === true ? "<h1>Your account</h1>" : "<h1>Please log in</h1>",
          ),
        );
      default:
        response.statusCode = 404;
        return void response.end(html("Missing", "missing"));
    }
  }

  return {
    url,
    otherUrl,
    requests,
    [Symbol.asyncDispose]: async () => {
      for (const server of [own, other]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function addressOf(server: Server, host: string): string {
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}
