import { randomUUID } from "node:crypto";
import type { TestChain } from "@geoswap/devnet";
import { orderProof, revocationTypedData } from "@geoswap/protocol";
import { concat, zeroAddress } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import type { DatabasePool } from "../../src/database/database.ts";
import { queueRemoval } from "../../src/job/delegation-removals.ts";

/** Creates a wallet that is delegated to the service's account contract. */
export async function delegatedWallet({ testClient, deployment }: TestChain): Promise<PrivateKeyAccount> {
	const wallet = privateKeyToAccount(generatePrivateKey());
	const bytecode = concat(["0xef0100", deployment.contracts.delegate]);
	await testClient.setCode({ address: wallet.address, bytecode });
	return wallet;
}

/** Queues the removal of the wallet's delegation, signed for this nonce of the wallet. */
export async function queueSignedRemoval(
	owner: DatabasePool,
	{ chainId, deployment }: Pick<TestChain, "chainId" | "deployment">,
	{ wallet, nonce = 0 }: { wallet: PrivateKeyAccount; nonce?: number },
): Promise<void> {
	const { escrow } = deployment.contracts;
	const revoking = revocationTypedData({ chainId, escrow, wallet: wallet.address, epoch: 0n });
	const { r, s, yParity } = await wallet.signAuthorization({ address: zeroAddress, chainId, nonce });
	const spent = await queueRemoval(owner, {
		accountId: randomUUID(),
		chainId,
		wallet: wallet.address,
		authorization: {
			address: zeroAddress,
			chainId: BigInt(chainId),
			nonce: BigInt(nonce),
			yParity: BigInt(yParity ?? 0),
			r,
			s,
		},
		revocation: orderProof({ kind: "typed", signature: await wallet.signTypedData(revoking) }),
		perDay: { perAccount: 1, perChain: 1_000 },
	});
	expect(spent).toBeUndefined();
}
