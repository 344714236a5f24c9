import { randomInt } from "node:crypto";
import { serverCommand } from "@geoswap/devnet";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import type { Environment } from "../environment/environment.ts";
import { keepRefusal } from "../environment/refusals.ts";
import { type CheckAnswer, createAnswerCheck } from "../generated/check-answer.ts";
import { bytesOf, type Draft } from "../generated/draft-request.ts";
import { exchange, type RawAnswer } from "../generated/exchange.ts";
import { hostile } from "../generated/hostile-request.ts";
import { type DocumentedOperation, type OpenapiJson, operationsOf } from "../generated/interface-document.ts";
import { createLiveValues, type LiveValues } from "../generated/live-values.ts";
import { nearlyValid } from "../generated/nearly-valid-request.ts";
import { type StringField, stringFields, withText } from "../generated/string-fields.ts";
import { validRequest } from "../generated/valid-request.ts";
import { percentile } from "../measure/percentile.ts";
import { sharedEnvironment } from "../shared-environment.ts";

/**
 * `GEOSWAP_REQUESTS` and `GEOSWAP_SEED` choose other requests, or repeat the same ones. In reports, n is the request's
 * number.
 */
const requestCount = Number(process.env.GEOSWAP_REQUESTS ?? (process.env.GEOSWAP_FULL ? 100_000 : 800));
const seed = Number(process.env.GEOSWAP_SEED);
/** The sums of seed and number of requests that had a wrong answer once. They are sent first. */
const fixedSeeds: readonly number[] = [];
const inFlight = 8;
const rates = ["quote", "build", "submit", "delegation", "status", "list"];

/** Time that an answer may take. Operations that call chains take longer than the others. */
const boundsMs: Record<string, number> = {
	buildGeoOp: 3_000,
	buildSolanaTx: 3_000,
	submit: 3_000,
	submitSolana: 3_000,
	// A valid request is held for at most a second.
	getStatus: 2_000,
};
const usualBoundMs = 1_000;
/** An invalid `wait` is treated as the longest. */
const heldBoundMs = 16_000;
function boundOf({ operation: { id }, class: kind }: Draft): number {
	return id === "getStatus" && kind !== "valid" ? heldBoundMs : (boundsMs[id] ?? usualBoundMs);
}

/**
 * A request that is slow because of its content is slow each time. One that is slow because the machine is busy is not.
 */
const tries = 10;
const timeoutMs = 20_000;

let environment: Environment;
let document: OpenapiJson;
let operations: DocumentedOperation[];
let checkAnswer: CheckAnswer;
beforeAll(async () => {
	environment = sharedEnvironment();
	document = (await (await fetch(`${environment.baseUrl}/openapi.json`)).json()) as OpenapiJson;
	operations = operationsOf(document);
	checkAnswer = createAnswerCheck(document);
});

async function createKey(...args: string[]): Promise<string> {
	const account = `generated-${seed}-${randomInt(2 ** 31)}`;
	const command = ["keys", "create", "--account", account, ...args, "--json"];
	return JSON.parse(await serverCommand(environment.serverEnvironment, command)).apiKey;
}

function anyRequest(live: LiveValues): fc.Arbitrary<Draft> {
	return fc.oneof(
		...operations.map((operation) => ({
			arbitrary: anyOf(operation, live),
			weight: operation.needsKey && hasInput(operation) ? 4 : 1,
		})),
	);
}

/** Operations without input have few possible mistakes. */
function hasInput({ body, parameters }: DocumentedOperation): boolean {
	return body !== undefined || parameters.length > 0;
}

function anyOf(operation: DocumentedOperation, live: LiveValues): fc.Arbitrary<Draft> {
	const valid = validRequest(document, operation, live);
	return fc.oneof(
		{ weight: 3, arbitrary: valid },
		{ weight: 5, arbitrary: nearlyValid(document, valid) },
		{ weight: 2, arbitrary: hostile(valid) },
	);
}

/** Returns the caller's address. Calls without a key are counted by address, and must not affect other tests. */
function addressOf(n: number): string {
	return `127.0.9.${1 + (n % 250)}`;
}

async function send(draft: Draft, { apiKey, n }: { apiKey: string; n: number }): Promise<RawAnswer[]> {
	const { hostname: host, port, host: name } = new URL(environment.baseUrl);
	const answers = await exchange(
		{ host, port: Number(port), localAddress: addressOf(n) },
		bytesOf(draft, { apiKey, host: name }),
		{
			answerCount: draft.followedBy ? 2 : 1,
			isHead: draft.method === "HEAD" && !draft.bytes,
			isEnded: draft.isEnded ?? false,
			timeoutMs,
		},
	);
	if (draft.operation.id === "addWebhook") {
		for (const { status, body } of answers) if (status === 200) await removeWebhook(apiKey, body);
	}
	return answers;
}

/** Removes a webhook that was added, because an account may have few. */
async function removeWebhook(apiKey: string, added: string): Promise<void> {
	const { webhookId } = JSON.parse(added) as { webhookId?: string };
	if (!webhookId) return;
	await callApi({ baseUrl: environment.baseUrl, apiKey }, `/webhooks/${webhookId}`, { method: "DELETE" });
}

function show(draft: Draft, n: number): string {
	const bytes = bytesOf(draft, { apiKey: "{x-api-key}", host: "geoswap" });
	const text = JSON.stringify(bytes.toString("latin1"));
	const shown = text.length > 800 ? `${text.slice(0, 800)}… (${bytes.length} bytes)` : text;
	return `request ${n}, ${draft.class}, ${draft.operation.id}, ${draft.twist}: ${shown}`;
}

test(`${requestCount} valid, nearly valid and hostile requests get responses in time that match the document, and no 5xx`, {
	timeout: 3_600_000,
}, async () => {
	const rates = ["quote", "build", "submit", "delegation", "status", "list"];
	const apiKey = await createKey(...rates.flatMap((rate) => ["--rate", `${rate}=100000`]));
	const live = await createLiveValues(environment);
	const request = anyRequest(live);
	const problems: string[] = [];
	const timesMs: Record<string, number[]> = Object.fromEntries(operations.map(({ id }) => [id, []]));
	const codes: Record<string, number> = {};

	async function sendOne(n: number, from = request): Promise<void> {
		const [draft] = fc.sample(from, { seed: fixedSeeds[n] ?? seed + n, numRuns: 1 });
		if (!draft) throw new Error("nothing was generated");
		const said = (problem: string) => problems.push(`${problem} (${show(draft, n)})`);
		try {
			const [answer, behind] = await send(draft, { apiKey, n });
			if (!answer) throw new Error("no answer");
			const { status, body, tookMs } = answer;
			for (const problem of checkAnswer(draft, answer)) said(`${problem}: ${status} ${body.slice(0, 500)}`);
			if (behind && behind.status !== 200) said(`what followed was answered with ${behind.status}`);
			const code = /^\{"code":"(\w+)"/.exec(body)?.[1];
			if (draft.class === "valid" && code === "INVALID_REQUEST") said(`valid, and refused: ${body}`);
			if (status === 429 && body.includes('"rate"')) said(`above a rate: ${body}`);
			if (status !== 200) keepRefusal(environment.baseUrl, body);
			else if (draft.class === "valid" && draft.isReaching) await learn(live, draft, body);
			const group = `${draft.class}: ${status} ${code ?? ""}`;
			codes[group] = (codes[group] ?? 0) + 1;
			timesMs[draft.operation.id]?.push(tookMs);
			const bound = boundOf(draft);
			if (tookMs > bound && (await minMs(draft, n)) > bound) said(`took ${tookMs} ms of ${bound}`);
		} catch (error) {
			said(String(error));
		}
	}

	async function minMs(draft: Draft, n: number): Promise<number> {
		let least = timeoutMs;
		for (let i = 1; i < tries && least > boundOf(draft); i++) {
			least = Math.min(least, (await send(draft, { apiKey, n }))[0]?.tookMs ?? timeoutMs);
		}
		return least;
	}

	// Random requests seldom lead from a quote to a submit, so valid requests submit the first swap.
	const steps = ["quote", "buildGeoOp", "submit"].map((id) => {
		const operation = operations.find((one) => one.id === id);
		if (!operation) throw new Error(`The document has no operation ${id}.`);
		return validRequest(document, operation, live);
	});
	for (let n = 0; n < 200 && live.swapIds.submitted.length === 0; n++) {
		for (const step of steps) await sendOne(n, step);
	}

	let next = 0;
	await Promise.all(
		Array.from({ length: inFlight }, async () => {
			while (next < requestCount && problems.length < 100) await sendOne(next++);
		}),
	);
	console.log("answers:", codes);
	console.log(
		"milliseconds:",
		Object.fromEntries(
			Object.entries(timesMs).map(([id, times]) => [
				id,
				`${times.length} requests, p50 ${percentile(times, 50).toFixed(1)}, p99 ${percentile(times, 99).toFixed(1)}, slowest ${Math.max(...times).toFixed(1)}, bound ${boundsMs[id] ?? usualBoundMs}`,
			]),
		),
	);
	expect(problems, `seed ${seed}: ${problems.slice(0, 20).join("\n")}`).toEqual([]);
	// Otherwise the pool of live values was never used.
	expect(codes["valid: 200 "]).toBeGreaterThan(0);
	// This answer is given to one of 750 requests on average, and with some seeds to none of a small run.
	if (requestCount > 10_000) expect(codes["valid: 422 INSUFFICIENT_BALANCE"]).toBeGreaterThan(0);
	expect(live.swapIds.submitted.length).toBeGreaterThan(0);
});

test("every text field of every operation refuses U+0000 and half of a surrogate pair by name, and 64 kB without a 5xx", async () => {
	const apiKey = await createKey(...rates.flatMap((rate) => ["--rate", `${rate}=100000`]));
	const live = await createLiveValues(environment);
	const problems: string[] = [];
	let sent = 0;
	for (const operation of operations) {
		const [valid] = fc.sample(validRequest(document, operation, live), { seed, numRuns: 1 });
		if (!valid) throw new Error("nothing was generated");
		for (const field of stringFields(document, operation)) {
			for (const text of textsFor(field)) {
				const isLong = text.length > 1_000;
				const draft = { ...withText(valid, field, text), isReaching: !isLong || field.place === "body" };
				const [answer] = await send(draft, { apiKey, n: sent++ });
				if (!answer) throw new Error("no answer");
				const isNamed = answer.body.includes(`"path":"${field.name}","message":"must not contain`);
				const wrong = checkAnswer({ ...draft, class: "hostile" }, answer);
				// A swap's id and tokens are decoded and never stored, so they have their own answer to any text.
				const isDecoded = ["swapId", "geoQuoteToken", "geoOpToken"].includes(field.name);
				if (isDecoded && !isLong && ![400, 401, 404].includes(answer.status))
					wrong.push("it has another answer");
				if (!isDecoded && !isLong && (answer.status !== 400 || !isNamed))
					wrong.push("the field is not named");
				for (const problem of wrong) problems.push(`${problem}: ${answer.body}\n    ${show(draft, sent)}`);
			}
		}
	}
	expect(problems, `seed ${seed}: ${problems.slice(0, 20).join("\n")}`).toEqual([]);
	expect(sent).toBeGreaterThan(100);
});

/** A URL has no form for half of a surrogate pair. */
function textsFor({ place }: StringField): string[] {
	const halves = place === "body" ? ["\ud800", "https://agent.example/\udfff"] : [];
	return ["\u0000", "https://agent.example/\u0000", ...halves, "x".repeat(64 * 1024)];
}

test("a key above its rate gets the documented error from every operation", async () => {
	// The rate allows a burst of two requests, and one more every ten seconds.
	const apiKey = await createKey(...rates.flatMap((rate) => ["--rate", `${rate}=0.1`]));
	const live = await createLiveValues(environment);
	const problems: string[] = [];
	for (const operation of operations.filter(({ needsKey }) => needsKey)) {
		const request = anyOf(operation, live);
		let isRefused = false;
		// If Redis is slow a process counts for itself, and lets through what Redis had not counted.
		for (let n = 0; n < 20 && !isRefused; n++) {
			const [draft] = fc.sample(request, { seed: seed + n, numRuns: 1 });
			if (!draft?.isReaching) continue;
			const [answer] = await send(draft, { apiKey, n });
			if (!answer) throw new Error("no answer");
			for (const problem of checkAnswer(draft, answer)) problems.push(`${problem}\n    ${show(draft, n)}`);
			isRefused = answer.status === 429;
		}
		expect(isRefused, operation.id).toBe(true);
	}
	expect(problems.length, `seed ${seed}:\n${problems.join("\n")}`).toBe(0);
});

async function learn(live: LiveValues, draft: Draft, body: string): Promise<void> {
	if (draft.operation.answers["200"]?.contentType !== "application/json") return;
	await live.learn(draft, JSON.parse(body));
}
