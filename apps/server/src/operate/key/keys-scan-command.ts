import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import type { Milliseconds } from "@geoswap/protocol";
import { apiKeyLength, type FoundKey, findApiKeysIn, isApiKey } from "../../api/key/api-key.ts";
import { type ApiKeyRecord, findApiKeys } from "../../api/key/api-key-record.ts";
import { readOptionalSecret, readPepper } from "../../config/secrets.ts";
import { withDatabase } from "../with-database.ts";
import { type KeyState, keyState } from "./key-state.ts";

/**
 * `not a key`: the checksum is wrong. `unknown`: the service made no such key, or not with this secret. `unchecked`:
 * the checksum is right, and there was no database to query.
 */
type Verdict = KeyState | "not a key" | "unknown" | "unchecked";
type Finding = { file: string; line: number; keyId: string; verdict: Verdict; account?: string };

/**
 * Returns the exit code: 0 if no usable key is found, 1 if one is, 3 if that is unknown because a file cannot be read
 * or the database does not answer. Without a database every key with a right checksum counts as usable.
 */
export async function scanKeysCommand({
	files,
	json,
}: {
	files: readonly string[];
	json?: boolean;
}): Promise<number> {
	const hasDatabase = readOptionalSecret("DATABASE_URL") !== undefined;
	const pepper = hasDatabase ? readPepper() : undefined;
	const found: (LocatedKey & { file: string })[] = [];
	let isAllRead = true;
	for (const file of files.length > 0 ? files : ["-"]) {
		try {
			const keys = await readKeys(file);
			found.push(...keys.map((key) => ({ file, ...key })));
		} catch (error) {
			// The other files may contain a key.
			isAllRead = false;
			console.error(`error: ${file}: ${(error as Error).message}`);
		}
	}
	const ids = [...new Set(found.filter((key) => key.isRightChecksum).map(({ id }) => id))];
	let records = new Map<string, ApiKeyRecord>();
	if (hasDatabase && ids.length > 0) {
		try {
			const known = await withDatabase((db) => findApiKeys(db, ids));
			records = new Map(known.map((record) => [record.id, record]));
		} catch (error) {
			const { describeError } = await import("../../telemetry/log.ts");
			console.error("error: the keys that were found could not be checked:", describeError(error));
			return 3;
		}
	}
	const nowMs = Date.now();
	const findings = found.map((key) => judge(key, { record: records.get(key.id), pepper, nowMs }));
	if (json) console.log(JSON.stringify(findings));
	else for (const finding of findings) console.log(describeFinding(finding));
	if (!json && findings.length === 0 && isAllRead) console.log("no text has the form of a key");
	if (!hasDatabase && ids.length > 0) {
		console.error("Set DATABASE_URL and GEOSWAP_API_KEY_PEPPER to find out which of them are valid.");
	}
	if (findings.some(({ verdict }) => ["valid", "expiring", "unchecked"].includes(verdict))) return 1;
	return isAllRead ? 0 : 3;
}

function judge(
	{ file, line, id, key, isRightChecksum }: LocatedKey & { file: string },
	{
		record,
		pepper,
		nowMs,
	}: { record: ApiKeyRecord | undefined; pepper: string | undefined; nowMs: Milliseconds },
): Finding {
	const finding = { file, line, keyId: id };
	if (!isRightChecksum) return { ...finding, verdict: "not a key" };
	if (pepper === undefined) return { ...finding, verdict: "unchecked" };
	if (!record || !isApiKey(key, { hash: record.hash, pepper })) return { ...finding, verdict: "unknown" };
	return { ...finding, verdict: keyState(record, nowMs), account: record.accountName };
}

function describeFinding({ file, line, keyId, verdict, account }: Finding): string {
	const place = `${file === "-" ? "stdin" : file}:${line}: ${keyId}`;
	const isUsable = verdict === "valid" || verdict === "expiring";
	const advice = isUsable ? `; revoke it with: geoswapd keys revoke ${keyId}` : "";
	return `${place}  ${verdict}${account === undefined ? "" : `, of ${account}`}${advice}`;
}

function readKeys(file: string): Promise<LocatedKey[]> {
	// Any file may be searched, so it is read as latin1, which decodes every byte to one character. A key has only
	// ASCII characters.
	const stream: Readable = file === "-" ? process.stdin : createReadStream(file);
	stream.setEncoding("latin1");
	return findKeysInStream(stream);
}

type LocatedKey = Omit<FoundKey, "offset"> & { line: number };

/** Finds everything that looks like a key, with its line. Only one piece of the text is in memory at a time. */
export async function findKeysInStream(stream: AsyncIterable<string>): Promise<LocatedKey[]> {
	const found: LocatedKey[] = [];
	let line = 1;
	let rest = "";
	for await (const chunk of stream) {
		const text = rest + chunk;
		let counted = 0;
		const countTo = (offset: number) => {
			line += text.slice(counted, offset).split("\n").length - 1;
			counted = offset;
		};
		for (const { offset, ...key } of findApiKeysIn(text)) {
			countTo(offset);
			found.push({ ...key, line });
		}
		// A key may begin in one piece and end in the next. A whole key is longer than the kept text.
		const kept = Math.max(counted, text.length - apiKeyLength + 1);
		countTo(kept);
		rest = text.slice(kept);
	}
	return found;
}
