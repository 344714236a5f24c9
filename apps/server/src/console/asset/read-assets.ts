import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const types = { css: "text/css", js: "text/javascript", svg: "image/svg+xml" } as const;

/** The library's file for browsers, which it does not export by name. */
const webauthn = join(
	dirname(fileURLToPath(import.meta.resolve("@simplewebauthn/browser"))),
	"../dist/bundle/index.umd.min.js",
);

const files = {
	"console.css": join(import.meta.dirname, "console.css"),
	"refresh.js": join(import.meta.dirname, "refresh.js"),
	"passkey.js": join(import.meta.dirname, "passkey.js"),
	"icon.svg": join(import.meta.dirname, "icon.svg"),
	"webauthn.js": webauthn,
} as const;

type Asset = { content: string; type: string; hash: string };

/** Read once, because the process restarts with each version. */
const assets = new Map(
	Object.entries(files).map(([name, path]): [string, Asset] => {
		const content = readFileSync(path, "utf8");
		const hash = createHash("sha256").update(content).digest("base64url").slice(0, 12);
		return [name, { content, type: types[name.split(".")[1] as keyof typeof types], hash }];
	}),
);

/** Returns a file's address. It changes with the content, so that browsers may cache the file permanently. */
export function assetUrl(name: string): string {
	return `/assets/${assets.get(name)?.hash}/${name}`;
}

export function findAsset(name: string): Asset | undefined {
	return assets.get(name);
}
