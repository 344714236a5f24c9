import { readFile } from "node:fs/promises";
import { type MandateJson, mandateToJson, type SignedMandate, signedMandateSchema } from "@geoswap/protocol";
import { CliError } from "./cli-error.ts";
import { firstIssue } from "./first-issue.ts";

/** Reads a mandate from a file that `geoswap mandate create` wrote. */
export async function readMandate(path: string): Promise<{ signed: SignedMandate; json: MandateJson }> {
	const text = await readFile(path, "utf8").catch(() => {
		throw invalid(path, "cannot be read");
	});
	const parsed = signedMandateSchema.safeParse(parseJson(path, text));
	if (!parsed.success) throw invalid(path, firstIssue(parsed.error));
	return { signed: parsed.data, json: mandateToJson(parsed.data) };
}

function parseJson(path: string, text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		throw invalid(path, "is not JSON");
	}
}

function invalid(path: string, what: string): CliError {
	return new CliError(
		`The mandate ${path} ${what}. Pass a file of geoswap mandate create, which the wallet's owner runs.`,
		{ code: "INVALID_MANDATE_FILE", section: "mandates" },
	);
}
