// clang's thread safety analysis, as words: which lock guards what. Other compilers see nothing.
#pragma once

#if defined(__clang__)
#define HEDDLE_TSA(x) __attribute__((x))
#else
#define HEDDLE_TSA(x)
#endif

#define CAPABILITY(name) HEDDLE_TSA(capability(name))
#define SCOPED_CAPABILITY HEDDLE_TSA(scoped_lockable)
#define GUARDED_BY(x) HEDDLE_TSA(guarded_by(x))
#define REQUIRES(...) HEDDLE_TSA(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) HEDDLE_TSA(acquire_capability(__VA_ARGS__))
#define RELEASE(...) HEDDLE_TSA(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) HEDDLE_TSA(try_acquire_capability(__VA_ARGS__))
#define LOCK_RETURNED(x) HEDDLE_TSA(lock_returned(x))
#define NO_THREAD_SAFETY_ANALYSIS HEDDLE_TSA(no_thread_safety_analysis)
