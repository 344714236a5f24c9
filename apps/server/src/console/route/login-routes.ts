import type { Milliseconds } from "@geoswap/protocol";
import {
	type AuthenticationResponseJSON,
	generateAuthenticationOptions,
	generateRegistrationOptions,
	type RegistrationResponseJSON,
	verifyAuthenticationResponse,
	verifyRegistrationResponse,
} from "@simplewebauthn/server";
import { networkOf } from "../../api/key/key-networks.ts";
import { type Bucket, createMemoryBuckets } from "../../api/key/memory-buckets.ts";
import { type Database, inTransaction } from "../../database/database.ts";
import { describeError } from "../../telemetry/log.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { writeConsoleLog } from "../login/console-log.ts";
import { findInvite, type Operator, useInvite } from "../login/operators.ts";
import { findPasskey, insertPasskey, passkeyIdsOf, touchPasskey } from "../login/passkeys.ts";
import { beginSession, endSession, hashToken, type SessionLimits } from "../login/sessions.ts";
import { invitePage, loginPage, oldInvitePage } from "../page/login-page.ts";
import type { ConsoleAnswer, ConsoleRequest, ConsoleRoute, SessionChange } from "./console-route.ts";

/** Login attempts per network: ten in a burst, then one every six seconds. */
const attempts: Bucket = { capacity: 10, intervalUs: 6_000_000 };
const name = "Geoswap console";

/** Returns the routes by which operators log in, register a passkey and log out. */
export function loginRoutes(parts: ConsoleParts, limits: SessionLimits): ConsoleRoute[] {
	const { pool, publicUrl, isDevnet, nowMs, random, log } = parts;
	const relyingParty = { expectedOrigin: publicUrl, expectedRPID: new URL(publicUrl).hostname };
	const challenges = createChallenges({ nowMs });
	const buckets = createMemoryBuckets({ nowUs: () => nowMs() * 1_000 });
	const expectedChallenge = (challenge: string) => challenges.take(challenge);

	return [
		{ method: "GET", path: "/login", access: "public", handle: async () => loginPage() },
		{
			method: "POST",
			path: "/login/options",
			access: "public",
			handle: limited(async () => {
				const options = await generateAuthenticationOptions({
					rpID: relyingParty.expectedRPID,
					userVerification: "required",
				});
				challenges.add(options.challenge);
				return { kind: "json", body: options };
			}),
		},
		{ method: "POST", path: "/login/verify", access: "public", handle: limited(verifyLogin) },
		{ method: "GET", path: "/invite", access: "public", handle: openInvite },
		{ method: "POST", path: "/invite/options", access: "public", handle: limited(inviteOptions) },
		{ method: "POST", path: "/invite/verify", access: "public", handle: limited(verifyInvite) },
		{
			method: "POST",
			path: "/logout",
			handle: async ({ operator, sessionToken, address }) => {
				await inTransaction(pool, async (db) => {
					await endSession(db, sessionToken);
					await writeConsoleLog(db, {
						actor: operator.name,
						action: "logged-out",
						detail: "Logged out.",
						address,
					});
				});
				return { kind: "redirect", to: "/login", session: { token: null } };
			},
		},
	];

	/**
	 * Refuses a network with too many attempts. They are logged only by the process, because they could fill a table.
	 */
	function limited(handle: (request: ConsoleRequest) => Promise<ConsoleAnswer>) {
		return async (request: ConsoleRequest): Promise<ConsoleAnswer> => {
			const network = networkOf(request.address);
			if (buckets.take(network, attempts).isAllowed) return handle(request);
			log.warn({ network }, "too many attempts to log in to the console");
			return problem(429, "Too many attempts. Wait a minute.");
		};
	}

	async function verifyLogin({ body, address }: ConsoleRequest): Promise<ConsoleAnswer> {
		const response = body.response as AuthenticationResponseJSON;
		const passkey = typeof response?.id === "string" ? await findPasskey(pool, response.id) : undefined;
		if (!passkey) return refuse("The passkey is not known.", { address });
		const verified = await verifyAuthenticationResponse({
			response,
			expectedChallenge,
			...relyingParty,
			credential: {
				id: passkey.id,
				publicKey: new Uint8Array(passkey.publicKey),
				counter: passkey.counter,
			},
		}).catch(unverified);
		if (!verified?.verified) {
			return refuse("The passkey's signature is not valid.", { address, actor: passkey.operatorName });
		}
		const { newCounter: counter } = verified.authenticationInfo;
		const operator = { id: passkey.operatorId, name: passkey.operatorName };
		const session = await inTransaction(pool, async (db) => {
			await touchPasskey(db, { id: passkey.id, counter, nowMs: nowMs() });
			return enter(db, operator, { action: "logged-in", detail: "Logged in with a passkey.", address });
		});
		return { kind: "json", body: {}, session };
	}

	async function openInvite({ query, address }: ConsoleRequest): Promise<ConsoleAnswer> {
		const invite = query.token ?? "";
		const operator = await findInvite(pool, { tokenHash: hashToken(invite), nowMs: nowMs() });
		if (!operator) return oldInvitePage();
		if (!isDevnet) return invitePage({ name: operator.name, invite });
		const session = await inTransaction(pool, async (db) => {
			if (!(await useInvite(db, { tokenHash: hashToken(invite), nowMs: nowMs() }))) return undefined;
			const detail = "Logged in with a one-time link, on a devnet.";
			return enter(db, operator, { action: "logged-in", detail, address });
		});
		return session ? { kind: "redirect", to: "/", session } : oldInvitePage();
	}

	async function inviteOptions({ body }: ConsoleRequest): Promise<ConsoleAnswer> {
		const operator = await findInvite(pool, { tokenHash: hashToken(String(body.invite)), nowMs: nowMs() });
		if (!operator) return problem(403, "The link was used or is too old.");
		const options = await generateRegistrationOptions({
			rpName: name,
			rpID: relyingParty.expectedRPID,
			userName: operator.name,
			userID: new TextEncoder().encode(operator.id),
			attestationType: "none",
			authenticatorSelection: { residentKey: "required", userVerification: "required" },
			excludeCredentials: (await passkeyIdsOf(pool, operator.id)).map((id) => ({ id })),
		});
		challenges.add(options.challenge);
		return { kind: "json", body: options };
	}

	async function verifyInvite({ body, address }: ConsoleRequest): Promise<ConsoleAnswer> {
		const tokenHash = hashToken(String(body.invite));
		const operator = await findInvite(pool, { tokenHash, nowMs: nowMs() });
		if (!operator) return refuse("The one-time link was used or is too old.", { address });
		const response = body.response as RegistrationResponseJSON;
		const verified = await verifyRegistrationResponse({
			response,
			expectedChallenge,
			...relyingParty,
		}).catch(unverified);
		if (!verified?.verified) {
			return refuse("The new passkey could not be verified.", { address, actor: operator.name });
		}
		const { id, publicKey, counter } = verified.registrationInfo.credential;
		const session = await inTransaction(pool, async (db) => {
			if (!(await useInvite(db, { tokenHash, nowMs: nowMs() }))) return undefined;
			await insertPasskey(db, { id, operatorId: operator.id, publicKey, counter });
			const detail = "Registered a passkey with a one-time link, and logged in.";
			return enter(db, operator, { action: "registered", detail, address });
		});
		if (!session) return refuse("The one-time link was used meanwhile.", { address, actor: operator.name });
		return { kind: "json", body: {}, session };
	}

	/**
	 * Logs an answer that the library rejected. The library throws for every problem, and its text is for developers.
	 */
	function unverified(error: unknown): undefined {
		log.info({ err: describeError(error) }, "a passkey was refused");
		return undefined;
	}

	/** Begins a session, and logs how the operator logged in. */
	async function enter(
		db: Database,
		{ id, name: actor }: Operator,
		entry: { action: "logged-in" | "registered"; detail: string; address: string },
	): Promise<SessionChange> {
		await writeConsoleLog(db, { actor, ...entry });
		const token = random(32).toString("base64url");
		await beginSession(db, { token, operatorId: id, limits, nowMs: nowMs() });
		return { token };
	}

	async function refuse(
		why: string,
		{ address, actor }: { address: string; actor?: string },
	): Promise<ConsoleAnswer> {
		await writeConsoleLog(pool, { actor, action: "login-refused", detail: why, address });
		return problem(403, why);
	}
}

function problem(status: number, why: string): ConsoleAnswer {
	return { kind: "json", status, body: { problem: why } };
}

/** The random numbers that authenticators sign. Each is used once, within a few minutes. */
type Challenges = {
	add(challenge: string): void;
	/** Uses a challenge up. Returns false if it is unknown, used or too old. */
	take(challenge: string): boolean;
};

/** Time for an operator to touch the authenticator. */
const lifetimeMs = 5 * 60_000;
/** Anyone who reaches the login page can request challenges. Beyond this number the oldest is dropped. */
const maxChallenges = 1_000;

/** Keeps challenges in memory. After a restart, an operator who was logging in clicks again. */
function createChallenges({ nowMs }: { nowMs: () => Milliseconds }): Challenges {
	const addedAtMs = new Map<string, Milliseconds>();
	return {
		add(challenge) {
			addedAtMs.set(challenge, nowMs());
			for (const oldest of addedAtMs.keys()) {
				if (addedAtMs.size <= maxChallenges) break;
				addedAtMs.delete(oldest);
			}
		},
		take(challenge) {
			const at = addedAtMs.get(challenge);
			addedAtMs.delete(challenge);
			return at !== undefined && nowMs() - at < lifetimeMs;
		},
	};
}
