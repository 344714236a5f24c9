// Generated from contracts/src by `pnpm generate`. Do not edit.
export const simulatedPayer = {
	"abi": [
		{
			"type": "function",
			"name": "pay",
			"inputs": [
				{
					"name": "",
					"type": "bytes32",
					"internalType": "bytes32"
				},
				{
					"name": "terms",
					"type": "tuple",
					"internalType": "struct Terms",
					"components": [
						{
							"name": "inputToken",
							"type": "bytes32",
							"internalType": "bytes32"
						},
						{
							"name": "inputAmount",
							"type": "uint256",
							"internalType": "uint256"
						},
						{
							"name": "destinationChainId",
							"type": "uint256",
							"internalType": "uint256"
						},
						{
							"name": "outputToken",
							"type": "bytes32",
							"internalType": "bytes32"
						},
						{
							"name": "minOutput",
							"type": "uint256",
							"internalType": "uint256"
						},
						{
							"name": "recipient",
							"type": "bytes32",
							"internalType": "bytes32"
						},
						{
							"name": "topUp",
							"type": "uint256",
							"internalType": "uint256"
						},
						{
							"name": "originVault",
							"type": "bytes32",
							"internalType": "bytes32"
						},
						{
							"name": "destinationVault",
							"type": "bytes32",
							"internalType": "bytes32"
						},
						{
							"name": "attesterSet",
							"type": "bytes32",
							"internalType": "bytes32"
						},
						{
							"name": "swapKey",
							"type": "bytes32",
							"internalType": "bytes32"
						},
						{
							"name": "deadlines",
							"type": "uint256",
							"internalType": "Deadlines"
						}
					]
				},
				{
					"name": "",
					"type": "bytes",
					"internalType": "bytes"
				}
			],
			"outputs": [],
			"stateMutability": "nonpayable"
		},
		{
			"type": "error",
			"name": "NotAnAddress",
			"inputs": [
				{
					"name": "word",
					"type": "bytes32",
					"internalType": "bytes32"
				}
			]
		},
		{
			"type": "error",
			"name": "PaymentFailed",
			"inputs": []
		},
		{
			"type": "error",
			"name": "SafeERC20FailedOperation",
			"inputs": [
				{
					"name": "token",
					"type": "address",
					"internalType": "address"
				}
			]
		}
	],
	"runtimeCode": "0x60806040526004361015610011575f80fd5b5f3560e01c6319cfd6e114610024575f80fd5b346100c6576101c07ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffc3601126100c6576101807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffdc3601126100c6576101a43567ffffffffffffffff81116100c657366023820112156100c657806004013567ffffffffffffffff81116100c657369101602401116100c6576100c46100ca565b005b5f80fd5b6024358060a01c6102625773ffffffffffffffffffffffffffffffffffffffff16806101c357505f808080604435335af13d156101be573d67ffffffffffffffff811161019157604051907fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0603f81601f8401160116820182811067ffffffffffffffff8211176101915760405281525f60203d92013e5b1561016957565b7ff499da20000000000000000000000000000000000000000000000000000000005f5260045ffd5b7f4e487b71000000000000000000000000000000000000000000000000000000005f52604160045260245ffd5b610162565b6040517fa9059cbb000000000000000000000000000000000000000000000000000000005f523360045260443560245260205f60448180865af19060015f5114821615610241575b604052156102165750565b7f5274afe7000000000000000000000000000000000000000000000000000000005f5260045260245ffd5b90600181151661025957823b15153d1516169061020b565b503d5f823e3d90fd5b7f479ef3f7000000000000000000000000000000000000000000000000000000005f5260045260245ffd"
} as const;
