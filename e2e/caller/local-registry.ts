import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";

/** Serves packed packages as npm's registry would, so that npm and npx find them by name. */
export async function localRegistry(
	tarballs: readonly string[],
): Promise<{ url: string; close: () => void }> {
	const files = new Map(tarballs.map((path) => [`/${basename(path)}`, readFileSync(path)]));
	const server = createServer((request, response) => {
		const path = decodeURIComponent(request.url ?? "");
		const file = files.get(path);
		const found = file ?? documents.get(path);
		response.statusCode = found === undefined ? 404 : 200;
		response.setHeader("content-type", file ? "application/octet-stream" : "application/json");
		response.end(found ?? "{}");
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const documents = new Map(tarballs.map((path) => documentOf(path, url)));
	return { url, close: () => void server.close() };
}

/** Returns the path that npm requests for a package, and the registry's response. */
function documentOf(tarball: string, url: string): [string, string] {
	const manifest = execFileSync("tar", ["-xzOf", tarball, "package/package.json"], { encoding: "utf8" });
	const { name, version, ...rest } = JSON.parse(manifest) as { name: string; version: string };
	const integrity = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
	const dist = { tarball: `${url}/${basename(tarball)}`, integrity };
	const versions = { [version]: { ...rest, name, version, dist } };
	return [`/${name}`, JSON.stringify({ name, "dist-tags": { latest: version }, versions })];
}
