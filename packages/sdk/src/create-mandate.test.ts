import { mandateTypedData, signedMandateSchema } from "@geoswap/protocol";
import { hashTypedData, parseSignature, recoverAddress, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { account, makePins } from "../test/op-fixture.ts";
import { createMandate } from "./create-mandate.ts";

const pins = makePins();
const chainId = pins.chains[0]?.chainId ?? 0;
const agent = privateKeyToAccount(generatePrivateKey()).address;
const token = agent;
const limits = {
	account,
	pins,
	chainId,
	agent,
	inputs: [{ token, maxAmount: 100n }],
	periodSeconds: 60,
	expiresAt: new Date(Date.now() + 60_000),
};

test("a mandate names the pinned contracts, and has the owner's signature in the one form that contracts take", async () => {
	// Some signers return the parity in place of v.
	const sign = async (typedData: Parameters<typeof account.signTypedData>[0]) => {
		const { r, s, yParity } = parseSignature(await account.signTypedData(typedData));
		return `${r}${s.slice(2)}${toHex(yParity, { size: 1 }).slice(2)}` as const;
	};
	const signer = { address: account.address, signTypedData: sign as never };
	for (const owner of [account, signer]) {
		const { mandate, signature, escrow } = signedMandateSchema.parse(
			await createMandate({ ...limits, account: owner }),
		);
		const [chain] = pins.chains;
		expect([escrow, mandate.originVault, mandate.attesterSet]).toEqual([
			chain?.contracts.escrow,
			chain?.contracts.vault,
			chain?.attesterSet.hash,
		]);
		expect(mandate).toMatchObject({ wallet: account.address, agent, epoch: 0n, outputs: [], recipients: [] });
		expect(signature).toMatch(/1[bc]$/);
		const hash = hashTypedData(mandateTypedData({ chainId, escrow, mandate }));
		expect(await recoverAddress({ hash, signature })).toBe(account.address);
	}
});

test("a mandate with a limit that would have no effect is not signed", async () => {
	const wrongChecksum = `${agent.slice(0, -1)}${agent.endsWith("f") ? "F" : "f"}`.replace(
		/[a-f](?=[^a-f]*$)/,
		(c) => c.toUpperCase(),
	) as typeof agent;
	const wrong: [Partial<typeof limits>, string][] = [
		[{ agent: account.address }, "the wallet itself"],
		[{ inputs: [] }, "inputs is empty"],
		[{ inputs: [...limits.inputs, { token: token.toLowerCase() as typeof token, maxAmount: 1n }] }, "twice"],
		[{ inputs: [{ token, maxAmount: 0n }] }, "maxAmount"],
		[{ periodSeconds: 0 }, "periodSeconds"],
		[{ periodSeconds: 2 ** 32 }, "periodSeconds"],
		[{ expiresAt: new Date() }, "not in the future"],
		[{ agent: "0x12" as typeof agent }, "no address"],
		[{ agent: wrongChecksum }, "no address"],
		[
			{ inputs: Array.from({ length: 17 }, (_, i) => ({ token: toHex(i, { size: 20 }), maxAmount: 1n })) },
			"more than 16",
		],
	];
	for (const [change, message] of wrong) {
		await expect(createMandate({ ...limits, ...change }), message).rejects.toThrow(message);
	}
});
