import type { DelegationResponse } from "@geoswap/protocol";
import { zeroAddress } from "viem";
import { recoverAuthorizationAddress } from "viem/utils";
import { afterEach, expect, test } from "vitest";
import { account, makePins } from "../test/op-fixture.ts";
import { serveAnswers } from "../test/serve-answers.ts";
import { type DelegateOption, signDelegation } from "./sign-delegation.ts";

const pins = makePins();
const delegate = pins.chains[0]?.contracts.delegate ?? zeroAddress;
const typedDelegate = pins.chains[0]?.contracts.typedDelegate ?? zeroAddress;
const earlier = pins.chains[0]?.contracts.earlierDelegates[0] ?? zeroAddress;
const undelegated = {
	delegated: false,
	originReady: false,
	delegationTarget: delegate,
	typedDelegationTarget: typedDelegate,
	accountNonce: 3,
};

let served: Awaited<ReturnType<typeof serveAnswers>>;
afterEach(() => served.close());

async function signWhen(
	state: Partial<DelegationResponse>,
	{
		chainId = 31337,
		refusedNonce = 3,
		...option
	}: { chainId?: number; refusedNonce?: number } & DelegateOption = {},
) {
	served = await serveAnswers({ body: { chainId, walletAddress: account.address, ...state } });
	return signDelegation(served.client, { chainId, account, pins, refusedNonce, ...option });
}
const typedOnly = { delegate: "typed-only" } as const;

test("a wallet without a delegation signs one for the pinned delegate, this chain only and its current nonce", async () => {
	const authorization = await signWhen(undelegated);
	expect(authorization).toMatchObject({ chainId: 31337, address: delegate, nonce: 3 });
	const { yParity, r, s } = authorization as { yParity: number; r: `0x${string}`; s: `0x${string}` };
	const signed = { chainId: 31337, address: delegate, nonce: 3, yParity, r, s };
	expect(await recoverAuthorizationAddress({ authorization: signed })).toBe(account.address);
});

test("a wallet delegated to either pinned delegate signs nothing", async () => {
	for (const delegatedTo of [delegate, typedDelegate]) {
		expect(await signWhen({ delegated: true, originReady: true, delegatedTo })).toBeUndefined();
		await served.close();
	}
});

test("a wallet on an earlier delegate signs a delegation to the current one", async () => {
	const state = { ...undelegated, delegated: true, delegatedTo: earlier };
	expect(await signWhen(state)).toMatchObject({ address: delegate, nonce: 3 });
});

test("a wallet signs a delegation to the delegate for typed data only if the option is set and the wallet has another delegate or none", async () => {
	expect(await signWhen(undelegated, typedOnly)).toMatchObject({ address: typedDelegate, nonce: 3 });
	await served.close();
	const ready = { delegated: true, originReady: true, accountNonce: 3 };
	const signed = await signWhen({ ...ready, delegatedTo: delegate }, typedOnly);
	expect(signed).toMatchObject({ address: typedDelegate, nonce: 3 });
	await served.close();
	expect(await signWhen({ ...ready, delegatedTo: typedDelegate }, typedOnly)).toBeUndefined();
});

test("another target for typed data only is refused", async () => {
	const state = { ...undelegated, typedDelegationTarget: zeroAddress };
	await expect(signWhen(state, typedOnly)).rejects.toMatchObject({ field: "typedDelegationTarget" });
});

test.each<[string, string, Partial<DelegationResponse>]>([
	["another target", "delegationTarget", { ...undelegated, delegationTarget: zeroAddress }],
	["an earlier delegate as target", "delegationTarget", { ...undelegated, delegationTarget: earlier }],
	["no target", "delegationTarget", { delegated: false, originReady: false, accountNonce: 3 }],
	[
		"another's delegation that would be replaced",
		"delegatedTo",
		{ ...undelegated, delegated: true, delegatedTo: zeroAddress },
	],
	["an invalid nonce", "accountNonce", { ...undelegated, accountNonce: -1 }],
	[
		"a wallet delegated to another's code",
		"delegatedTo",
		{ delegated: true, originReady: true, delegatedTo: zeroAddress },
	],
])("an answer with %s is refused", async (_, field, state) => {
	await expect(signWhen(state)).rejects.toMatchObject({ code: "VERIFICATION_FAILED", field });
});

test("a nonce too far ahead of or behind the last refused one is refused", async () => {
	const signAt = (accountNonce: number) => signWhen({ ...undelegated, accountNonce }, { refusedNonce: 10 });
	for (const near of [7, 10, 14, 74]) {
		expect(await signAt(near)).toMatchObject({ nonce: near });
		await served.close();
	}
	for (const far of [6, 75, 1_000]) {
		await expect(signAt(far)).rejects.toMatchObject({ code: "VERIFICATION_FAILED", field: "accountNonce" });
		await served.close();
	}
});

test("a wallet delegated to another provider gets an error with the advice to use another wallet", async () => {
	const state = { delegated: true, originReady: false, delegatedTo: zeroAddress } as const;
	await expect(signWhen({ ...state, blocked: "UNSUPPORTED_DELEGATION" })).rejects.toMatchObject({
		code: "UNSUPPORTED_DELEGATION",
		next: "use_other_wallet",
		docs: expect.stringMatching(/\/docs\/errors\/UNSUPPORTED_DELEGATION$/),
	});
});

test("a chain that is not pinned is refused before any request to the service", async () => {
	await expect(signWhen(undelegated, { chainId: 1 })).rejects.toMatchObject({
		code: "VERIFICATION_FAILED",
		field: "chainId",
	});
	expect(served.requests).toEqual([]);
});
