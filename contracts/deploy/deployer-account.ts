import type { Hex } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { DeployError } from "./deploy-error.ts";

/** Returns the account of DEPLOYER_PRIVATE_KEY. No error contains the key, or a cause that may contain it. */
export function deployerAccount(key: string | undefined): PrivateKeyAccount {
	if (!key) throw problem("not set");
	if (!isPrivateKey(key)) throw problem("not a private key");
	try {
		return privateKeyToAccount(key);
	} catch {
		// The key is zero, or at least the order of the curve.
		throw problem("not a private key");
	}
}

function problem(what: string): DeployError {
	return new DeployError(`DEPLOYER_PRIVATE_KEY is ${what}`, {
		next: "set it to the deployer's key: 0x and 64 hexadecimal digits",
	});
}

function isPrivateKey(key: string): key is Hex {
	return /^0x[0-9a-fA-F]{64}$/.test(key);
}
