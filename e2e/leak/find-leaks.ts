import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EnvironmentAddress } from "../environment/environment.ts";
import { processSecrets, signedSecrets } from "./known-secrets.ts";
import { createSecretFinder, type Finding } from "./secret-finder.ts";

/** Searches all output of a running environment's services for its secrets. */
export async function findLeaks(address: EnvironmentAddress): Promise<string[]> {
	const secrets = [...processSecrets(address), ...(await signedSecrets(address.databaseUrl))];
	const find = createSecretFinder(secrets);
	const shown = await Promise.all(Object.values(address.metricsUrls).map((url) => leaksAt(url, find)));
	return [...leaksIn(address.logDir, find), ...shown.flat()];
}

/** Searches every file of a folder. */
export function leaksIn(folder: string, find: (text: string) => Finding[]): string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name))
		.flatMap((file) => find(readFileSync(file, "utf8")).map((finding) => describe(finding, file)));
}

async function leaksAt(url: string, find: (text: string) => Finding[]): Promise<string[]> {
	const text = await (await fetch(url)).text();
	return find(text).map((finding) => describe(finding, url));
}

function describe({ kind, line, excerpt }: Finding, where: string): string {
	return `${kind} (${excerpt}) in line ${line} of ${where}`;
}
