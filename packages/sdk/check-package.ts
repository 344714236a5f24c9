import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { rolldown } from "rolldown";
import { tryPeers } from "./test/try-peers.ts";

// Builds the package as published and checks it as a user's tools would: exports, types, its cost in a bundle, and
// swaps with the oldest and the newest version of each peer.

/**
 * Limit for `swap()` from EVM chains, minified and compressed, without viem. Raising it must be a decision. With viem,
 * `swap()` must stay below 45 kB.
 */
const budgetBytes = 19_500;

const directory = import.meta.dirname;
const scratch = mkdtempSync(join(tmpdir(), "geoswap-sdk-"));
const problems: string[] = [];
try {
	for (const step of [
		["run", "build"],
		["pack", "--pack-destination", scratch],
	]) {
		// The output matters only if the step fails, and is in the error then.
		execFileSync("pnpm", step, { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
	}
	const [name] = readdirSync(scratch);
	if (!name) throw new Error("nothing was packed");
	const tarball = readFileSync(join(scratch, name));

	const { messages, pkg } = await publint({ pack: { tarball: toArrayBuffer(tarball) }, strict: true });
	problems.push(...messages.map((message) => `publint: ${formatMessage(message, pkg)}`));

	const types = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
	if (!types.types) problems.push("there are no types");
	else {
		// The package is for `import` alone, by Node's rules or a bundler's.
		const isServed = (resolution: unknown) => resolution !== "node10" && resolution !== "node16-cjs";
		const found = types.problems.filter(
			(problem) => !("resolutionKind" in problem) || isServed(problem.resolutionKind),
		);
		problems.push(...found.map((problem) => `types: ${JSON.stringify(problem)}`));
	}

	problems.push(...(await tryPeers(scratch, { tarball: join(scratch, name) })));

	const bytes = {
		"swap() from EVM chains, without viem": await sizeOf(
			'export { swap, createClient } from "@geoswap/sdk"',
			{
				external: /^viem/,
			},
		),
		"the same with viem": await sizeOf('export { swap, createClient } from "@geoswap/sdk"', {}),
		"viem's own createWalletClient, http and privateKeyToAccount": await sizeOf(
			'export { createWalletClient, http } from "viem"; export { privateKeyToAccount } from "viem/accounts"',
			{},
		),
	};
	for (const [what, size] of Object.entries(bytes)) console.log(`${(size / 1000).toFixed(1)} kB  ${what}`);
	const own = bytes["swap() from EVM chains, without viem"];
	if (own > budgetBytes)
		problems.push(`swap() takes ${own} bytes of a bundle, and ${budgetBytes} are allowed`);
} finally {
	rmSync(scratch, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Returns the size of a bundle, minified and compressed as a browser would load it. */
async function sizeOf(code: string, { external }: { external?: RegExp }): Promise<number> {
	const entry = join(scratch, "entry.js");
	writeFileSync(entry, code.replaceAll("@geoswap/sdk", join(directory, "dist/index.js")));
	const bundle = await rolldown({
		input: entry,
		platform: "browser",
		...(external && { external }),
		resolve: { modules: ["node_modules", join(directory, "node_modules")] },
		// An import that is not found is left out of the bundle, and would be left out of its size.
		onLog: (_, { code, message }) => {
			if (code === "UNRESOLVED_IMPORT") throw new Error(message);
		},
	});
	const { output } = await bundle.generate({ format: "esm", minify: true });
	await bundle.close();
	return output.reduce((sum, part) => sum + (part.type === "chunk" ? gzipSync(part.code).length : 0), 0);
}

function toArrayBuffer({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer {
	return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}
