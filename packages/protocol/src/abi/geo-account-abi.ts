// Generated from contracts/src by `pnpm generate`. Do not edit.
export const geoAccountAbi = [
	{
		"type": "fallback",
		"stateMutability": "payable"
	},
	{
		"type": "receive",
		"stateMutability": "payable"
	},
	{
		"type": "function",
		"name": "entryPoint",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "contract IEntryPoint"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "execute",
		"inputs": [
			{
				"name": "mode",
				"type": "bytes32",
				"internalType": "bytes32"
			},
			{
				"name": "executionData",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [],
		"stateMutability": "payable"
	},
	{
		"type": "function",
		"name": "getNonce",
		"inputs": [
			{
				"name": "key",
				"type": "uint192",
				"internalType": "uint192"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "getNonce",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "isValidSignature",
		"inputs": [
			{
				"name": "hash",
				"type": "bytes32",
				"internalType": "bytes32"
			},
			{
				"name": "signature",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [
			{
				"name": "magicValue",
				"type": "bytes4",
				"internalType": "bytes4"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "onERC1155BatchReceived",
		"inputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "uint256[]",
				"internalType": "uint256[]"
			},
			{
				"name": "",
				"type": "uint256[]",
				"internalType": "uint256[]"
			},
			{
				"name": "",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "bytes4",
				"internalType": "bytes4"
			}
		],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "onERC1155Received",
		"inputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "bytes4",
				"internalType": "bytes4"
			}
		],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "onERC721Received",
		"inputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "bytes4",
				"internalType": "bytes4"
			}
		],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "supportsExecutionMode",
		"inputs": [
			{
				"name": "mode",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		],
		"outputs": [
			{
				"name": "result",
				"type": "bool",
				"internalType": "bool"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "supportsInterface",
		"inputs": [
			{
				"name": "interfaceId",
				"type": "bytes4",
				"internalType": "bytes4"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "bool",
				"internalType": "bool"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "validateUserOp",
		"inputs": [
			{
				"name": "userOp",
				"type": "tuple",
				"internalType": "struct PackedUserOperation",
				"components": [
					{
						"name": "sender",
						"type": "address",
						"internalType": "address"
					},
					{
						"name": "nonce",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "initCode",
						"type": "bytes",
						"internalType": "bytes"
					},
					{
						"name": "callData",
						"type": "bytes",
						"internalType": "bytes"
					},
					{
						"name": "accountGasLimits",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "preVerificationGas",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "gasFees",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "paymasterAndData",
						"type": "bytes",
						"internalType": "bytes"
					},
					{
						"name": "signature",
						"type": "bytes",
						"internalType": "bytes"
					}
				]
			},
			{
				"name": "userOpHash",
				"type": "bytes32",
				"internalType": "bytes32"
			},
			{
				"name": "missingAccountFunds",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"stateMutability": "nonpayable"
	},
	{
		"type": "event",
		"name": "ERC7579TryExecuteFail",
		"inputs": [
			{
				"name": "batchExecutionIndex",
				"type": "uint256",
				"indexed": false,
				"internalType": "uint256"
			},
			{
				"name": "returndata",
				"type": "bytes",
				"indexed": false,
				"internalType": "bytes"
			}
		],
		"anonymous": false
	},
	{
		"type": "error",
		"name": "AccountUnauthorized",
		"inputs": [
			{
				"name": "sender",
				"type": "address",
				"internalType": "address"
			}
		]
	},
	{
		"type": "error",
		"name": "ERC7579DecodingError",
		"inputs": []
	},
	{
		"type": "error",
		"name": "ERC7579UnsupportedExecType",
		"inputs": [
			{
				"name": "execType",
				"type": "bytes1",
				"internalType": "ExecType"
			}
		]
	},
	{
		"type": "error",
		"name": "FailedCall",
		"inputs": []
	},
	{
		"type": "error",
		"name": "OutOfRangeAccess",
		"inputs": []
	},
	{
		"type": "error",
		"name": "UnsupportedExecutionMode",
		"inputs": []
	}
] as const;
