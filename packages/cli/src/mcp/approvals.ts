import { createHash, randomBytes, randomUUID } from "node:crypto";
import { createRequestStateCodec, type ServerContext } from "@modelcontextprotocol/server";
import type { Intent } from "../intents.ts";

/** The terms that a user approves: at most `amount` in, at least `minOutput` out, to this recipient. */
export type ApprovedTerms = Omit<Intent, "version" | "createdAt" | "isMax" | "acceptsAnyPrice"> & {
	minOutput: string;
	recipient: string;
};

/** The signed state that a client holds while its user decides. It holds no quote, which would expire meanwhile. */
export type Question = {
	/** Valid once. */
	nonce: string;
	/** The hash of the arguments of the call that led to the question. */
	args: string;
	terms: ApprovedTerms;
};

export type Approvals = ReturnType<typeof openApprovals>;

/** The time within which a user may answer. */
export const approvalSeconds = 15 * 60;
/** The maximum number of open questions. Beyond it, the oldest one is deleted. */
const maxOpen = 1_000;

/**
 * Opens the questions of this process. The key exists in this process only, so the state of an earlier process is
 * refused. A nonce that was used before a restart is thus not accepted after it, without a list on disk.
 */
export function openApprovals(nowMs: () => number = Date.now) {
	const codec = createRequestStateCodec<Question>({
		key: randomBytes(32),
		ttlSeconds: approvalSeconds,
		bind: ({ mcpReq }) => mcpReq.method,
	});
	/** Nonces in the order of their questions, with the time until which they are valid. */
	const open = new Map<string, number>();
	return {
		verify: codec.verify,
		/** Returns the state to send with a question about these terms. */
		ask: async (args: unknown, terms: ApprovedTerms, ctx: ServerContext): Promise<string> => {
			for (const [nonce, untilMs] of open) if (untilMs < nowMs() || open.size >= maxOpen) open.delete(nonce);
			const nonce = randomUUID();
			const state = await codec.mint({ nonce, args: hashOfArgs(args), terms }, ctx);
			open.set(nonce, nowMs() + approvalSeconds * 1_000);
			return state;
		},
		/** Uses up the question. Returns false if it was used before, has expired, or belongs to other arguments. */
		use: (question: Question, args: unknown): boolean => {
			const untilMs = open.get(question.nonce);
			open.delete(question.nonce);
			return untilMs !== undefined && untilMs >= nowMs() && question.args === hashOfArgs(args);
		},
	};
}

/** Hashes the arguments. They were parsed by their schema, so their fields always have the same order. */
export function hashOfArgs(args: unknown): string {
	return createHash("sha256").update(JSON.stringify(args)).digest("hex");
}
