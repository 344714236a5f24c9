import { type QuoteRequest, solanaNativeToken, tokenAccountOf } from "@geoswap/protocol";
import { isOffCurveAddress } from "@solana/kit";
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { zeroAddress, zeroHash } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	evmWallet,
	inward,
	outward,
	refusal,
	type SolanaDeskScene,
	startSolanaDeskScene,
	type Way,
} from "../../test/desk/solana-desk-scene.ts";

let scene: SolanaDeskScene;
let deployment: SolanaDeskScene["deployment"];
let desk: SolanaDeskScene["desk"];
let wallet: SolanaDeskScene["wallet"];
let request: SolanaDeskScene["request"];
beforeAll(async () => {
	scene = await startSolanaDeskScene();
	({ deployment, desk, wallet, request } = scene);
});
afterAll(() => scene.stop());

describe("addresses", () => {
	function issuesOf(change: Way & Partial<QuoteRequest>): unknown {
		const error = refusal(() => desk.quote(request(change)));
		expect(error.code).toBe("INVALID_REQUEST");
		return error.details;
	}

	test("a recipient is required if the wallet's address is not valid on the destination", () => {
		for (const way of [outward, inward]) {
			expect(issuesOf({ ...way, recipient: undefined })).toMatchObject({
				issues: [{ path: "recipient", message: expect.stringMatching(/^is required, /) }],
			});
		}
	});

	test("each address must be in the format of its chain", () => {
		const message = "is not a Solana address";
		const malformed = ["0OIl", `${wallet}1`, wallet.slice(4), evmWallet, zeroHash];
		for (const recipient of malformed) {
			expect(issuesOf({ ...outward, recipient })).toEqual({ issues: [{ path: "recipient", message }] });
		}
		expect(issuesOf({ ...inward, walletAddress: evmWallet })).toEqual({
			issues: [{ path: "walletAddress", message }],
		});
		expect(issuesOf({ ...inward, inputToken: zeroAddress })).toEqual({
			issues: [{ path: "inputToken", message }],
		});
		expect(issuesOf({ ...inward, recipient: wallet })).toMatchObject({ issues: [{ path: "recipient" }] });
		expect(issuesOf({ ...outward, walletAddress: wallet })).toMatchObject({
			issues: [{ path: "walletAddress" }],
		});
	});

	test("an address that has no key, or belongs to the service, is refused", async () => {
		const { feePayers, program, settlementToken } = deployment;
		const named = [
			solanaNativeToken,
			...feePayers,
			program.address,
			program.vault,
			program.operator,
			settlementToken,
			TOKEN_PROGRAM_ADDRESS,
			ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
			"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
			"So11111111111111111111111111111111111111112",
			"SysvarC1ock11111111111111111111111111111111",
			"SysvarRent111111111111111111111111111111111",
			"ComputeBudget111111111111111111111111111111",
			"Stake11111111111111111111111111111111111111",
			await tokenAccountOf({ owner: program.vault, token: settlementToken }),
		];
		for (const address of named) {
			expect(issuesOf({ ...outward, recipient: address })).toMatchObject({ issues: [{ path: "recipient" }] });
			expect(issuesOf({ ...inward, walletAddress: address })).toMatchObject({
				issues: [{ path: "walletAddress" }],
			});
		}
		const account = await tokenAccountOf({ owner: wallet, token: settlementToken });
		expect(isOffCurveAddress(account)).toBe(true);
		expect(issuesOf({ ...outward, recipient: account })).toEqual({
			issues: [{ path: "recipient", message: "has no key; name the wallet itself, not its token account" }],
		});
	});

	test("a token that is not offered is refused with its address and the offered symbols", () => {
		const error = refusal(() => desk.quote(request({ ...outward, outputToken: wallet })));
		expect(error).toMatchObject({ code: "NO_ROUTE", details: { reason: "token" } });
		expect(error.message).toContain(wallet);
		expect(error.message).toContain("USDC, USDT, SOL");
	});
});
