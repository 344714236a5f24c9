import { readFile } from "node:fs/promises";
import { CliError } from "./cli-error.ts";

const maxBytes = 4_000_000;
const timeoutMs = 20_000;

/** Reads a deployment file's text, from the disk or from an address that is encrypted or on this machine. */
export async function readDeployment(source: string): Promise<string> {
	const url = addressOf(source);
	if (!url) {
		return readFile(source, "utf8").catch((error: NodeJS.ErrnoException) => {
			throw unreadable(source, error.code === "ENOENT" ? "there is no such file" : error.message);
		});
	}
	const { protocol, hostname } = url;
	const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
	if (protocol !== "https:" && !(protocol === "http:" && isLocal)) {
		throw unreadable(source, "it must be an https address");
	}
	try {
		const response = await fetch(url, {
			signal: AbortSignal.timeout(timeoutMs),
			// The file must come from the given host.
			redirect: "error",
		});
		if (!response.ok) throw new Error(`the server answered ${response.status}`);
		const text = await response.text();
		if (text.length > maxBytes) throw new Error("it is too large");
		return text;
	} catch (error) {
		throw unreadable(source, (error as Error).message);
	}
}

/** Returns the source's network address, or undefined if it is a file. */
export function addressOf(source: string): URL | undefined {
	return /^[a-z]+:\/\//i.test(source) && URL.canParse(source) ? new URL(source) : undefined;
}

function unreadable(source: string, why: string): CliError {
	return new CliError(
		`${source} cannot be read: ${why}. Pass the file or address of the operator's deployment.json.`,
		{
			code: "INVALID_DEPLOYMENT",
			section: "init",
		},
	);
}
