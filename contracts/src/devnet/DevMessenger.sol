// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ITokenMessengerV2} from "../interfaces/ITokenMessengerV2.sol";
import {DevToken} from "./DevToken.sol";
import {DevTransmitter, IMessageHandlerV2} from "./DevTransmitter.sol";

/// @title DevMessenger
/// @notice A model, for development chains, of Circle's TokenMessengerV2 and TokenMinterV2: the same calls, events, bytes
/// of messages and reasons of reverts. Anyone may set what it knows of other chains.
/// @dev Owner, pause, denylist, hooks, minimum fee and the limit of a burn are left out.
contract DevMessenger is ITokenMessengerV2, IMessageHandlerV2 {
    /// @notice Tokens were burned, to be minted on another chain.
    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    /// @notice Tokens were minted that had been burned on another chain.
    event MintAndWithdraw(
        address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected
    );

    /// @notice The version of the body of a message.
    uint32 public constant messageBodyVersion = 1;
    /// @notice Messages that are less final than this are refused.
    uint32 public constant MIN_FINALITY = 500;
    /// @notice Gets what is burned. A DevToken has no burn, and nobody has the key of this address.
    address public constant BURNED = 0x000000000000000000000000000000000000dEaD;

    /// @notice Sends and receives the messages.
    DevTransmitter public immutable localMessageTransmitter;
    /// @notice Gets the fees.
    address public immutable feeRecipient;

    /// @notice The messenger of each other chain.
    mapping(uint32 domain => bytes32) public remoteTokenMessengers;
    /// @notice The token of this chain that is minted for a token of another chain.
    mapping(uint32 domain => mapping(bytes32 token => DevToken)) public localTokens;

    constructor(DevTransmitter transmitter, address feeRecipient_) {
        localMessageTransmitter = transmitter;
        feeRecipient = feeRecipient_;
    }

    /// @notice Links a token of another chain, and that chain's messenger, with a token of this one.
    function link(uint32 domain, bytes32 messenger, bytes32 remoteToken, DevToken localToken) external {
        remoteTokenMessengers[domain] = messenger;
        localTokens[domain][remoteToken] = localToken;
    }

    /// @inheritdoc ITokenMessengerV2
    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external {
        require(amount > 0, "Amount must be nonzero");
        require(mintRecipient != bytes32(0), "Mint recipient must be nonzero");
        require(maxFee < amount, "Max fee must be less than amount");
        bytes32 messenger = remoteTokenMessengers[destinationDomain];
        require(messenger != bytes32(0), "No TokenMessenger for domain");
        require(DevToken(burnToken).transferFrom(msg.sender, BURNED, amount), "Transfer operation failed");
        bytes memory body = _body(burnToken, mintRecipient, amount, maxFee);
        _send(destinationDomain, messenger, destinationCaller, minFinalityThreshold, body);
        emit DepositForBurn(
            burnToken,
            amount,
            msg.sender,
            mintRecipient,
            destinationDomain,
            messenger,
            destinationCaller,
            maxFee,
            minFinalityThreshold,
            ""
        );
    }

    /// @inheritdoc IMessageHandlerV2
    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32, bytes calldata body)
        external
        returns (bool)
    {
        return _receive(domain, sender, body);
    }

    /// @inheritdoc IMessageHandlerV2
    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool)
    {
        require(finality >= MIN_FINALITY, "Unsupported finality threshold");
        return _receive(domain, sender, body);
    }

    function _body(address burnToken, bytes32 mintRecipient, uint256 amount, uint256 maxFee)
        private
        view
        returns (bytes memory)
    {
        return abi.encodePacked(
            messageBodyVersion,
            bytes32(uint256(uint160(burnToken))),
            mintRecipient,
            amount,
            bytes32(uint256(uint160(msg.sender))),
            maxFee,
            // The fee and the block of expiry, which the attesters fill in.
            uint256(0),
            uint256(0)
        );
    }

    function _send(uint32 domain, bytes32 messenger, bytes32 caller, uint32 finality, bytes memory body) private {
        localMessageTransmitter.sendMessage(domain, messenger, caller, finality, body);
    }

    function _receive(uint32 domain, bytes32 sender, bytes calldata body) private returns (bool) {
        require(msg.sender == address(localMessageTransmitter), "Invalid message transmitter");
        require(sender != bytes32(0) && remoteTokenMessengers[domain] == sender, "Remote TokenMessenger unsupported");
        require(body.length >= 228, "Invalid burn message: too short");
        require(uint32(bytes4(body[0:4])) == messageBodyVersion, "Invalid message body version");
        uint256 expirationBlock = uint256(bytes32(body[196:228]));
        require(expirationBlock == 0 || expirationBlock > block.number, "Message expired and must be re-signed");
        uint256 amount = uint256(bytes32(body[68:100]));
        uint256 fee = uint256(bytes32(body[164:196]));
        require(fee == 0 || fee < amount, "Fee equals or exceeds amount");
        require(fee <= uint256(bytes32(body[132:164])), "Fee exceeds max fee");
        _mint(domain, bytes32(body[4:36]), address(uint160(uint256(bytes32(body[36:68])))), amount - fee, fee);
        return true;
    }

    function _mint(uint32 domain, bytes32 burnToken, address to, uint256 amount, uint256 fee) private {
        DevToken token = localTokens[domain][burnToken];
        require(address(token) != address(0), "Mint token not supported");
        token.mint(to, amount);
        if (fee > 0) token.mint(feeRecipient, fee);
        emit MintAndWithdraw(to, amount, address(token), fee);
    }
}
