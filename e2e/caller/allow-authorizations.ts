import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { TestChain } from "@geoswap/devnet";
import { type Address, createWalletClient, type Hex, http, type PrivateKeyAccount } from "viem";

/** Resolves OpenZeppelin's files as the contracts do. */
const ofContracts = createRequire(join(import.meta.dirname, "../../contracts/package.json"));

/** The name of the real USDC in the domain of its signatures. */
export const authorizationDomain = { name: "USD Coin", version: "2" };

/** The storage is that of the devnet's token, which comes first. */
const source = `// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

contract TokenWithAuthorizations is ERC3009 {
    constructor() ERC20("", "") EIP712("${authorizationDomain.name}", "${authorizationDomain.version}") {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}
`;

/**
 * Gives a token of the devnet EIP-3009, which the real USDC has. It allows transfers that the owner signs and anyone
 * sends. The token's code is replaced in one step, and its balances stay.
 */
export async function allowAuthorizations(
	{ testClient, publicClient, rpcUrl }: TestChain,
	{ token, deployer }: { token: Address; deployer: PrivateKeyAccount },
): Promise<void> {
	const wallet = createWalletClient({ account: deployer, transport: http(rpcUrl) });
	const hash = await wallet.sendTransaction({ data: compiled(), chain: null });
	const { contractAddress } = await publicClient.waitForTransactionReceipt({ hash });
	if (!contractAddress) throw new Error("the token was not deployed");
	const bytecode = await publicClient.getCode({ address: contractAddress });
	if (!bytecode) throw new Error("the token has no code");
	await testClient.setCode({ address: token, bytecode });
}

function compiled(): Hex {
	const require = createRequire(import.meta.url);
	const solc = require("solc") as {
		compile: (input: string, callbacks: { import: (path: string) => { contents: string } }) => string;
	};
	const input = {
		language: "Solidity",
		sources: { "token.sol": { content: source } },
		settings: {
			outputSelection: { "token.sol": { "*": ["evm.bytecode.object"] } },
		},
	};
	const output = JSON.parse(
		solc.compile(JSON.stringify(input), {
			import: (path) => ({ contents: readFileSync(ofContracts.resolve(path), "utf8") }),
		}),
	);
	const object = output.contracts?.["token.sol"]?.TokenWithAuthorizations?.evm.bytecode.object;
	if (!object) throw new Error(JSON.stringify(output.errors));
	return `0x${object}`;
}
