import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileStore } from "@geoswap/sdk/file-store";
import * as z from "zod";
import type { Context } from "../context.ts";
import { type ApprovalPage, startApprovalPage } from "./approval-page.ts";
import { type ApprovedTerms, approvalSeconds, hashOfArgs } from "./approvals.ts";

// A client that cannot ask its user leaves the question to `geoswap approve` and to a page on this machine. Both answer
// one question once. The model gets neither the address of the page nor the nonce of the question.

/** How long a call waits for the answer. Clients give up after about a minute. */
const waitMs = 20_000;
const pollMs = 250;

const questionSchema = z.object({
	version: z.literal(1),
	nonce: z.string(),
	/** The terms, for the user. */
	text: z.string(),
	expiresAt: z.string(),
});
export type OutsideQuestion = z.output<typeof questionSchema>;
const answerSchema = z.object({ nonce: z.string(), approve: z.boolean() });

/** Opens the questions and answers that processes of one home share. */
export function openQuestionFiles(home: string) {
	const store = fileStore(join(home, "approvals"));
	const read = async <Schema extends z.ZodType>(
		name: string,
		schema: Schema,
	): Promise<z.output<Schema> | undefined> => {
		const text = await store.get(name);
		if (text === undefined) return undefined;
		const parsed = schema.safeParse(JSON.parse(text));
		return parsed.success ? parsed.data : undefined;
	};
	return {
		ask: (id: string, question: OutsideQuestion) => store.set(`${id} question`, JSON.stringify(question)),
		find: (id: string) => read(`${id} question`, questionSchema),
		answer: (id: string, answer: z.output<typeof answerSchema>) =>
			store.set(`${id} answer`, JSON.stringify(answer)),
		findAnswer: (id: string) => read(`${id} answer`, answerSchema),
	};
}

type Pending = {
	id: string;
	question: OutsideQuestion;
	/** The hash of the arguments of the call that led to the question. */
	args: string;
	terms: ApprovedTerms;
	expiresAtMs: number;
	/** The user's answer on the page. */
	isApproved?: boolean;
};

export type OutsideApprovals = ReturnType<typeof openOutsideApprovals>;

/** Asks users outside of the client, each question for one set of terms and for a limited time. */
export function openOutsideApprovals(
	{ config, io, output }: Pick<Context, "config" | "io" | "output">,
	{ nowMs = Date.now, waitForMs = waitMs }: { nowMs?: () => number; waitForMs?: number } = {},
) {
	const files = openQuestionFiles(config.home);
	const pending = new Map<string, Pending>();
	let page: Promise<ApprovalPage> | undefined;

	return {
		/**
		 * Returns the user's answer to a call, and the terms that it is for. Asks if the call has not led to a question
		 * yet. An answer is returned once.
		 */
		decide: async (
			{ id, args }: { id: string; args: unknown },
			makeQuestion: () => Promise<{ terms: ApprovedTerms; text: string }>,
			signal: AbortSignal,
		): Promise<{ answer: "approved"; terms: ApprovedTerms } | { answer: "declined" | "pending" }> => {
			const asked = hashOfArgs(args);
			let found = pending.get(id);
			if (found?.args !== asked || found.expiresAtMs < nowMs()) {
				found = await ask(id, asked, await makeQuestion());
			}
			const untilMs = nowMs() + waitForMs;
			for (;;) {
				const answer = await answerTo(found);
				if (answer !== undefined) {
					pending.delete(id);
					return answer ? { answer: "approved", terms: found.terms } : { answer: "declined" };
				}
				if (nowMs() >= untilMs) return { answer: "pending" };
				await sleep(pollMs, undefined, { signal });
			}
		},
		close: async () => (await page)?.close(),
	};

	async function ask(
		id: string,
		args: string,
		{ terms, text }: { terms: ApprovedTerms; text: string },
	): Promise<Pending> {
		const expiresAtMs = nowMs() + approvalSeconds * 1_000;
		const expiresAt = new Date(expiresAtMs).toISOString();
		const question = { version: 1 as const, nonce: randomUUID(), text, expiresAt };
		const asked: Pending = { id, question, args, terms, expiresAtMs };
		await files.ask(id, question);
		pending.set(id, asked);
		page ??= startApprovalPage();
		const url = (await page).show({
			token: randomBytes(32).toString("base64url"),
			text,
			expiresAtMs,
			answer: (isApproved) => {
				// An approval on the page or by the command, whichever comes first.
				asked.isApproved ??= isApproved;
			},
		});
		output.say(["approve", url]);
		await io.openUrl(url);
		return asked;
	}

	/** Returns the user's answer, or undefined if there is none in time. */
	async function answerTo({ id, question, expiresAtMs, isApproved }: Pending): Promise<boolean | undefined> {
		if (nowMs() > expiresAtMs) return undefined;
		if (isApproved !== undefined) return isApproved;
		const answer = await files.findAnswer(id);
		return answer?.nonce === question.nonce ? answer.approve : undefined;
	}
}
