import type { Address, Client } from "viem";
import { getCode } from "viem/actions";
import { DeployError } from "./deploy-error.ts";

export async function expectCode(
	client: Client,
	name: string,
	address: Address,
	next = "correct its address in the config",
): Promise<void> {
	if ((await getCode(client, { address })) !== undefined) return;
	throw new DeployError(`there is no contract at ${address}, where ${name} should be`, { next });
}
